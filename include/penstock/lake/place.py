"""Files of the lake beside its tables' rows: read, written and listed in one way, on a disk and on an object store.

Whatever must have one winner is a commit, and commits are Delta's and Spark's: docs/decisions/0020. Nothing here is.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

if TYPE_CHECKING:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

LOCAL = fs.LocalFileSystem()
# Of UTC, here as everywhere.
MOMENT = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Place:
    """A folder of the lake; an object store has none, only names that begin alike."""

    files: fs.FileSystem
    path: str

    @property
    def local(self) -> bool:
        return self.files is LOCAL

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def below(self, name: str) -> "Place":
        return Place(self.files, f"{self.path}/{name}")

    def there(self) -> bool:
        """Whether anything is under this name."""
        found: fs.FileInfo = self.files.get_file_info(self.path)
        return bool(found.type != fs.FileType.NotFound)

    def names(self) -> list[str]:
        """What is directly in here, in order; nothing where there is no such folder."""
        return sorted(each.base_name for each in self._listed() if each.path.rstrip("/") != self.path)

    def folders(self) -> Iterator["Place"]:
        for each in sorted(self._listed(), key=lambda found: str(found.path)):
            if each.type == fs.FileType.Directory:
                yield Place(self.files, each.path.rstrip("/"))

    def everything(self) -> list[str]:
        """Every file below, by its name from here, in order."""
        return sorted(each.path[len(self.path) + 1 :] for each in self._listed(recursive=True) if each.is_file)

    def size(self) -> int:
        """Bytes of all files below."""
        return sum(each.size for each in self._listed(recursive=True) if each.is_file)

    def _listed(self, recursive: bool = False) -> list[fs.FileInfo]:
        wanted = fs.FileSelector(self.path, allow_not_found=True, recursive=recursive)
        try:
            found: list[fs.FileInfo] = self.files.get_file_info(wanted)
        except FileNotFoundError:
            # Arrow looks twice, and takes it amiss when somebody makes the folder between: two views' first candidates.
            found = self.files.get_file_info(wanted)
        return found

    def length(self, name: str) -> int | None:
        """The bytes of one file; none where it is not there."""
        found: fs.FileInfo = self.files.get_file_info(f"{self.path}/{name}")
        return found.size if found.is_file else None

    def open(self, name: str) -> pa.NativeFile:
        return self.files.open_input_file(f"{self.path}/{name}")

    def read(self, name: str) -> bytes:
        with self.open(name) as file:
            content: bytes = file.read()
            return content

    def dataset(self, names: list[str]) -> "ds.Dataset":
        """Parquet files as one relation, read as far as it is asked."""
        # It imports pandas, which takes a third of the time in which a short command starts.
        import pyarrow.dataset as ds

        return ds.dataset([f"{self.path}/{name}" for name in names], format="parquet", filesystem=self.files)

    def write(self, name: str, content: bytes | pa.Buffer) -> int:
        """Durable when it returns; its size. Half a file may be left by a crash: only a commit makes files matter."""
        target = f"{self.path}/{name}"
        if not self.local:
            with self.files.open_output_stream(target) as file:
                file.write(content)
            return len(content)
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with Path(target).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return len(content)

    def have(self, name: str, of: "Place") -> None:
        """The other place's file here as well: by a second name on one disk, by the store's own copy else."""
        if self.local and of.local:
            target = Path(self.path, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(Path(of.path, name), target)
        else:
            self.files.copy_file(f"{of.path}/{name}", f"{self.path}/{name}")

    def copied(self, target: "Place") -> None:
        """All files below, on whatever disk or store the target is."""
        fs.copy_files(
            self.path, target.path, source_filesystem=self.files, destination_filesystem=target.files, use_threads=False
        )

    def moved(self, target: "Place") -> None:
        """On a disk at once. On a store a crash leaves files on both sides, and none is lost."""
        if self.local:
            self.files.move(self.path, target.path)
        else:
            self.copied(target)
            self.remove()

    def rename(self, name: str, new: str) -> None:
        self.files.move(f"{self.path}/{name}", f"{self.path}/{new}")

    def forget(self, name: str) -> None:
        """One file, if it is there."""
        if self.length(name) is not None:
            self.files.delete_file(f"{self.path}/{name}")

    def remove(self) -> None:
        """All files below; nothing where there are none."""
        if self.there():
            self.files.delete_dir(self.path)


def write_parquet(rows: pa.Table, where: Any, **how: Any) -> None:
    """With a checksum of each page: without one, most flipped bits are read as other values."""
    pq.write_table(rows, where, write_page_checksum=True, **how)


def checked(file: Any) -> pq.ParquetFile:
    """A file whose pages must have their checksums, where the writer made any."""
    return pq.ParquetFile(file, page_checksum_verification=True)


def rows(file: str, columns: list[str] | None = None) -> pa.Table:
    """A Parquet file's own columns, or these of them, wherever it is."""
    folder, _, name = file.rpartition("/")
    with place(folder).open(name) as opened:
        found = checked(opened).read(columns)
    return found.cast(pa.schema([field.with_type(plain(field.type)) for field in found.schema]))


def batches(
    file: str, columns: Sequence[str], size: int, wanted: "pc.Expression | None" = None
) -> Iterator[pa.RecordBatch]:
    """Rows of a Parquet file, some at a time: all of them, or those that are wanted."""
    import pyarrow.dataset as ds

    folder, _, name = file.rpartition("/")
    told = ds.ParquetFragmentScanOptions(pre_buffer=True, page_checksum_verification=True)
    read = (
        place(folder)
        .dataset([name])
        .scanner(columns=[*columns], filter=wanted, batch_size=size, batch_readahead=2, fragment_scan_options=told)
    )
    schema = pa.schema([field.with_type(plain(field.type)) for field in read.projected_schema])
    yield from (batch.cast(schema) for batch in read.to_batches())


def plain(kind: pa.DataType) -> pa.DataType:
    """One type for what writers store each in their way, so that files of one table can stand together.

    delta-rs rewrites files with views of strings, which Arrow can neither filter nor join with strings; Spark, which
    rewrites them after a statement, writes moments without their zone.
    """
    if pa.types.is_timestamp(kind):
        return MOMENT
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    return pa.list_(plain(kind.value_type)) if pa.types.is_list(kind) else kind


def place(address: str | Path) -> Place:
    """The folder at a path, or at an object store's address such as s3a://bucket/lake."""
    scheme, found, path = str(address).partition("://")
    if not found or scheme == "file":
        return Place(LOCAL, str(Path(path or scheme).absolute()))
    bucket = path.partition("/")[0]
    # Spark says s3a, everybody else s3.
    return Place(_store(f"{'s3' if scheme == 's3a' else scheme}://{bucket}"), path.rstrip("/"))


@cache
def _store(address: str) -> fs.FileSystem:
    """One client a bucket. Keys, region and address are found as delta-rs finds them: AWS_… in the environment."""
    return fs.FileSystem.from_uri(address)[0]
