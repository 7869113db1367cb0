package penstock.lake;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;

/** The actions of a commit as the bytes of its file. */
final class Lines {
    private Lines() {}

    static byte[] of(Iterator<String> actions) {
        StringBuilder text = new StringBuilder();
        while (actions.hasNext()) {
            text.append(actions.next()).append('\n');
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }
}
