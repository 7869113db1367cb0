package penstock.lake;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** Makes a file of a local disk appear under its name at once, whole, durable, and for one writer only. */
final class Link {
    private Link() {}

    /** Throws FileAlreadyExistsException where another writer was first. */
    static void write(Path target, byte[] content, boolean overwrite) throws IOException {
        // Delta, delta-rs and Spark list no name that starts with a dot.
        Path draft = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            Files.write(draft, content);
            sync(draft, StandardOpenOption.WRITE);
            if (overwrite) {
                // Hadoop's checksum of the file that was there would condemn the new one.
                Files.deleteIfExists(target.resolveSibling("." + target.getFileName() + ".crc"));
                Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
            } else {
                // link(2) fails where the name exists: the kernel lets one writer win. rename(2) lets both.
                Files.createLink(target, draft);
            }
            // The name is durable only once its folder is.
            sync(target.getParent(), StandardOpenOption.READ);
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    private static void sync(Path path, StandardOpenOption mode) throws IOException {
        try (FileChannel channel = FileChannel.open(path, mode)) {
            channel.force(true);
        }
    }
}
