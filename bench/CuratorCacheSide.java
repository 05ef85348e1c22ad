import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.RetryOneTime;

/** Curator's CuratorCache over the whole tree of a server: prints its figures as one line of JSON. */
public class CuratorCacheSide {
    private static final long LIMIT_S = 1_800;

    public static void main(String[] arguments) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long started = System.nanoTime();
        var whole = new CountDownLatch(1);
        try (CuratorFramework client =
                        CuratorFrameworkFactory.newClient(arguments[0], 30_000, 30_000, new RetryOneTime(1_000));
                CuratorCache cache = CuratorCache.build(client, "/")) {
            client.start();
            cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(whole::countDown).build());
            cache.start();
            if (!whole.await(LIMIT_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException("CuratorCache was not whole after " + LIMIT_S + " s");
            }
            double seconds = (System.nanoTime() - started) / 1e9;
            double used = (system.getProcessCpuTime() - cpu) / 1e9;
            System.out.printf(
                    java.util.Locale.ROOT,
                    "{\"znodes\": %d, \"seconds\": %.6f, \"cpu_s\": %.6f}%n",
                    cache.size(),
                    seconds,
                    used);
            System.out.flush();
            System.in.read(); // the parent looks at this process, then lets it end
        }
    }
}
