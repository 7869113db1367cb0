package penstock.lake;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateFileOptionKeys;
import org.apache.hadoop.fs.Path;

/** Makes an object appear for one writer only: S3's conditional write (If-None-Match), as delta-rs commits. */
final class Put {
    private Put() {}

    /** Throws FileAlreadyExistsException where another writer was first. */
    static void write(FileSystem files, Path target, byte[] content, boolean overwrite) throws IOException {
        try (OutputStream out = overwrite ? files.create(target, true) : absent(files, target)) {
            out.write(content);
        } catch (IOException failure) {
            if (overwrite) {
                throw failure;
            }
            settle(files, target, content, failure);
        }
    }

    private static OutputStream absent(FileSystem files, Path target) throws IOException {
        // `must`: a file system that cannot promise this refuses, and nothing is written.
        return (OutputStream) files.createFile(target).overwrite(false)
                .must(CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true).build();
    }

    /** An answer may be lost after the write: a retry then fails on our own object, so its content decides. */
    private static void settle(FileSystem files, Path target, byte[] content, IOException failure)
            throws IOException {
        if (!files.exists(target)) {
            throw failure;
        }
        try (InputStream in = files.open(target)) {
            if (!Arrays.equals(in.readAllBytes(), content)) {
                throw new FileAlreadyExistsException(target.toString());
            }
        }
    }
}
