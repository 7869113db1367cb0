"""One line a log record, with nothing in it that a terminal or a log reader would obey."""

import logging

# Control characters of ASCII and Latin-1, and the separators that Unicode takes for ends of lines.
ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {0x2028: "\\u2028", 0x2029: "\\u2029"}


class OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).translate(ESCAPES)


def to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
