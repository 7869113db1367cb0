"""A domain's code as somebody might change it: the toy domain's, if none is named."""

from pathlib import Path

TOY = Path(__file__).parents[1] / "toy"


def changed_code(below: Path, file: str, old: str, new: str, domain: Path = TOY / "domains/toy") -> str:
    """A folder with the domain's code in which one passage is another."""
    folder = below / f"code-{abs(hash((file, old, new)))}"
    for each in domain.glob("*.py"):
        text = each.read_text()
        assert each.name != file or old in text
        place = folder / "domains" / domain.name / each.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.replace(old, new) if each.name == file else text)
    return str(folder)
