"""The registry's REST protocol, at `/registry` of every collector: the part that stock serializers use."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import unquote

import orjson

from penstock.collect.access import Access
from penstock.collect.asgi import Receive, Send, answer
from penstock.collect.body import read
from penstock.collect.registry.schemas import Registry, RegistryError, canonical

KIND = (b"content-type", b"application/vnd.schemaregistry.v1+json")
Asked = dict[str, Any]
Answer = Callable[[Asked], Awaitable[Any]]


class Desk:
    def __init__(self, registry: Registry, access: Access) -> None:
        self._registry = registry
        self._access = access

    async def answer(self, method: str, path: str, headers: dict[bytes, bytes], receive: Receive, send: Send) -> int:
        if method in ("POST", "PUT"):
            shown = headers.get(b"authorization", b"").decode("latin-1")
            self._access.key(shown.removeprefix("Bearer "), "")
        try:
            asked = orjson.loads(await read(receive, headers.get(b"content-length"), self._access.limits.body) or b"{}")
            if method in ("GET", "HEAD"):
                await self._registry.refresh()
            told, status = await self._route(method, [unquote(word) for word in path.split("/")[1:]])(asked), 200
        except RegistryError as error:
            told, status = {"error_code": error.code, "message": error.message}, error.status
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
            told, status = {"error_code": 42201, "message": f"The request cannot be read: {error}"}, 422
        await answer(send, status, orjson.dumps(told), [KIND])
        return status

    def _route(self, method: str, words: list[str]) -> Answer:
        match method, words:
            case "GET", ["subjects"]:
                return self._told(lambda: sorted(self._registry.known.subjects))
            case "GET", ["subjects", subject, "versions"]:
                return self._told(lambda: list(range(1, len(self._versions(subject)) + 1)))
            case "GET", ["subjects", subject, "versions", version]:
                return self._told(lambda: self._version(subject, version))
            case "GET", ["schemas", "ids", number]:
                return self._told(lambda: {"schema": self._schema(number)})
            case "GET", ["config", *of]:
                return self._told(lambda: {"compatibilityLevel": self._registry.level("".join(of[:1]))})
            case "POST", ["subjects", subject, "versions"]:
                return partial(self._register, subject)
            case "POST", ["subjects", subject]:
                return partial(self._look_up, subject)
            case "POST", ["compatibility", "subjects", subject, "versions", version]:
                return partial(self._compatible, subject, version)
            case "PUT", ["config", *of]:
                return partial(self._configure, "".join(of[:1]))
        raise RegistryError(404, 404, "There is nothing at this path.")

    def _told(self, tell: Callable[[], Any]) -> Answer:
        async def told(_: Asked) -> Any:
            return tell()

        return told

    async def _register(self, subject: str, asked: Asked) -> Any:
        if asked.get("schemaType", "AVRO") != "AVRO":
            raise RegistryError(422, 42201, "Only Avro schemas are registered here.")
        return {"id": await self._registry.register(subject, asked["schema"])}

    async def _look_up(self, subject: str, asked: Asked) -> Any:
        await self._registry.refresh()
        schema = canonical(asked["schema"])
        versions = self._versions(subject)
        if schema not in versions:
            raise RegistryError(404, 40403, "The schema is not a version of this subject.")
        return self._version(subject, str(versions.index(schema) + 1))

    async def _compatible(self, subject: str, version: str, asked: Asked) -> Any:
        await self._registry.refresh()
        number = self._number(subject, version)
        return {"is_compatible": self._registry.compatible(subject, asked["schema"], number)}

    async def _configure(self, subject: str, asked: Asked) -> Any:
        await self._registry.set_level(subject, asked["compatibility"])
        return {"compatibility": asked["compatibility"]}

    def _versions(self, subject: str) -> list[str]:
        if subject not in self._registry.known.subjects:
            raise RegistryError(404, 40401, f"There is no subject {subject!r}.")
        return self._registry.known.subjects[subject]

    def _number(self, subject: str, version: str) -> int:
        versions = self._versions(subject)
        number = len(versions) if version in ("latest", "-1") else int(version) if version.isdigit() else 0
        if not 0 < number <= len(versions):
            raise RegistryError(404, 40402, f"{subject} has no version {version}.")
        return number

    def _version(self, subject: str, version: str) -> Any:
        number = self._number(subject, version)
        schema = self._versions(subject)[number - 1]
        return {"subject": subject, "version": number, "id": self._registry.known.ids[schema], "schema": schema}

    def _schema(self, number: str) -> str:
        schema = self._registry.known.texts.get(int(number) if number.isdigit() else 0)
        if schema is None:
            raise RegistryError(404, 40403, f"There is no schema {number}.")
        return schema
