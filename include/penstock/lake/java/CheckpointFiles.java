package penstock.lake;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/** The files of a streaming query's checkpoint: of two drivers that write one epoch, one fails. */
public final class CheckpointFiles extends FileSystemBasedCheckpointFileManager {
    public CheckpointFiles(Path path, Configuration settings) {
        super(path, settings);
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        switch (fs().getScheme()) {
            case "file":
                java.nio.file.Path target = java.nio.file.Path.of(path.toUri().getPath());
                return new Draft(content -> Link.write(target, content, overwrite));
            case "s3a":
                return new Draft(content -> Put.write(fs(), path, content, overwrite));
            default:
                // HDFS and Azure rename atomically and refuse a name that exists.
                return super.createAtomic(path, overwrite);
        }
    }

    private interface Publication {
        void of(byte[] content) throws IOException;
    }

    /** Held in memory until it is closed: these files are a few kilobytes. */
    private static final class Draft extends CancellableFSDataOutputStream {
        private final Publication publication;
        private boolean ended;

        Draft(Publication publication) {
            super(new ByteArrayOutputStream());
            this.publication = publication;
        }

        @Override
        public synchronized void close() throws IOException {
            if (ended) {
                return;
            }
            ended = true;
            try {
                publication.of(((ByteArrayOutputStream) underlyingStream()).toByteArray());
            } catch (java.nio.file.FileAlreadyExistsException taken) {
                // Spark knows a second driver by Hadoop's exception of this name.
                throw new org.apache.hadoop.fs.FileAlreadyExistsException(taken.getMessage());
            }
        }

        @Override
        public synchronized void cancel() {
            ended = true;
        }
    }
}
