package penstock.lake;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Delta's log on S3, safe for many processes; Delta 4.4.0's own store is safe for one driver only. */
public final class PutLogStore extends HadoopFileSystemLogStore {
    public PutLogStore(Configuration settings) {
        super(settings);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration settings)
            throws IOException {
        Put.write(path.getFileSystem(settings), path, Lines.of(actions), overwrite);
    }

    /** An object is there whole or not at all. */
    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration settings) {
        return false;
    }
}
