"""Seals records: only the keys of everybody whom they name can open them. Sealed before the log, opened by shapes.

A sealed value is MAGIC, a nonce, and what AES-GCM makes of the user agent's length, the user agent and the event's own
bytes. The header `subjects` has the tokens; the record's key is a hash of all their keys, so each of them can end it.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.keys.chance import CHANCE
from penstock.keys.store import TOKEN_BYTES, Keys, Subject
from penstock.model.source import Source

# No JSON begins with it, and no framed Avro.
MAGIC = b"\x01pk1"
NONCE_BYTES, LENGTH_BYTES = 12, 2
SEALED_AT = len(MAGIC) + NONCE_BYTES
# The header that is personal and goes into the sealed value.
AGENT = "user_agent"
# Subjects that a collector has at hand: some 50 MB. When it is full it begins again.
MOST_KNOWN = 100_000

# Whom a record names: a domain, and the names that are told there.
Names = tuple[str, ...]
Whom = tuple[str, Names]
NOBODY: Names = ("",)


def whom(source: Source, event: Mapping[str, Any]) -> Whom:
    """Whom an event names, each once, the key's first; ("",) where it names nobody that can be told apart."""
    named: list[str] = []
    # Written out, and not as expressions: it is done for every event that comes.
    for field in source.subjects:
        said = event.get(field)
        if said and (said.__class__ is str or isinstance(said, int)) and (name := str(said)) not in named:
            named.append(name)
    return source.domain, tuple(named) or NOBODY


def record_key(keys: Iterable[bytes]) -> bytes:
    """The key of a record that names these subjects, in their order."""
    return hashlib.sha256(b"".join(keys)).digest()


def tokens_of(subjects: bytes) -> list[bytes]:
    return [subjects[at : at + TOKEN_BYTES] for at in range(0, len(subjects), TOKEN_BYTES)]


class Sealer:
    """Seals what names certain subjects."""

    __slots__ = ("cipher", "key", "subjects")

    def __init__(self, named: Sequence[Subject]) -> None:
        self.subjects = b"".join(each.token for each in named)
        # Keeps one subject's records in order on the log, as the name itself did.
        self.key = named[0].token
        self.cipher = AESGCM(record_key(each.key for each in named))

    def seal(self, plain: bytes, nonce: bytes) -> bytes:
        return MAGIC + nonce + self.cipher.encrypt(nonce, plain, None)


def agent_first(agent: bytes) -> bytes:
    """What a sealed value begins with, before the event's own bytes."""
    return len(agent).to_bytes(LENGTH_BYTES, "big") + agent


class Sealers:
    """The sealers that a collector has at hand: made as subjects come, forgotten when somebody is erased."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._generation = -1
        self._known: dict[Whom, Sealer] = {}
        self._looked = False

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """One look for erasures is enough for all that was there before it and is sealed within, without waiting."""
        # Who cannot look now is told so by each that looks for itself.
        with suppress(Exception):
            self._look()
            self._looked = True
        try:
            yield
        finally:
            self._looked = False

    def known(self) -> Mapping[Whom, Sealer]:
        """Those that were learnt since the last erasure."""
        if not self._looked:
            self._look()
        return self._known

    def _look(self) -> None:
        generation = self._keys.generation()
        if generation != self._generation or len(self._known) > MOST_KNOWN:
            self._known, self._generation = {}, generation

    def of(self, named: Iterable[Whom]) -> list[Sealer] | None:
        """Theirs, in their order; None where one is not known."""
        known = self.known()
        try:
            return [known[each] for each in named]
        except KeyError:
            return None

    def learn(self, named: Collection[Whom]) -> None:
        """Asks the keys, which are durable before anything is sealed with them. Waits for the disk."""
        generation = self._keys.generation()
        learnt: dict[Whom, Sealer] = {}
        for domain in {domain for domain, _ in named}:
            own = [names for each, names in named if each == domain]
            subjects = self._keys.of(domain, {name for names in own for name in names})
            learnt |= {(domain, names): Sealer([subjects[name] for name in names]) for names in own}
        # What was asked before an erasure may be destroyed: it is asked again. Others may look at this very moment.
        known = self._known
        if generation == self._generation:
            known.update(learnt)

    def opened(self, value: bytes, subjects: bytes) -> tuple[bytes, bytes] | None:
        """What a collector has sealed itself."""
        return Opener(self._keys, [subjects]).opened(value, subjects)


class Opener:
    """Opens what was sealed, with the keys that there are now. Made anew for each batch: a key is never held."""

    def __init__(self, keys: Keys, subjects: Iterable[bytes]) -> None:
        self._keys = keys.keys({token for each in subjects for token in tokens_of(each)})
        self._ciphers: dict[bytes, AESGCM | None] = {}

    def opened(self, value: bytes, subjects: bytes) -> tuple[bytes, bytes] | None:
        """The event's own bytes and the user agent; None where a key is gone. What is not sealed is as it is."""
        if not value.startswith(MAGIC):
            return value, b""
        if subjects not in self._ciphers:
            self._ciphers[subjects] = self._cipher(tokens_of(subjects))
        cipher = self._ciphers[subjects]
        if cipher is None:
            return None
        try:
            plain = cipher.decrypt(value[len(MAGIC) : SEALED_AT], value[SEALED_AT:], None)
        except (InvalidTag, ValueError):
            return None
        size = LENGTH_BYTES + int.from_bytes(plain[:LENGTH_BYTES], "big")
        return plain[size:], plain[LENGTH_BYTES:size]

    def _cipher(self, tokens: list[bytes]) -> AESGCM | None:
        own = [self._keys[token] for token in tokens if token in self._keys]
        return AESGCM(record_key(own)) if tokens and len(own) == len(tokens) else None


def nonces(number: int) -> Iterator[bytes]:
    drawn = CHANCE.draw(NONCE_BYTES * number)
    for at in range(0, len(drawn), NONCE_BYTES):
        yield drawn[at : at + NONCE_BYTES]
