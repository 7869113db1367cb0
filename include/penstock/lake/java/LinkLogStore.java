package penstock.lake;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Delta's log on a local disk, safe for many processes. */
public final class LinkLogStore extends HadoopFileSystemLogStore {
    public LinkLogStore(Configuration settings) {
        super(settings);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration settings)
            throws IOException {
        Link.write(java.nio.file.Path.of(path.toUri().getPath()), Lines.of(actions), overwrite);
    }

    /** Of what does not go through this store (Delta's Parquet checkpoints): Delta then renames them. */
    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration settings) {
        return true;
    }
}
