"""The main methods of Kafka's own tools, of every release, in one JVM that stays.

A JVM for each of the hundreds of times that a run asks a tool would cost a second of CPU each. Here a tool
is what it is on the command line: the class by its arguments; what it reads, prints and ends with; and what
it does while its JVM ends. Each release has a class loader of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError

from tests.lab import gateway, jars
from tests.lab.releases import Release

LIMIT_S = 180.0
_HEAP_MB = 256

# What a tool prints is read: its warnings go elsewhere.
LOGGING = """\
log4j.rootLogger=WARN, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""

# Py4J and Java itself may do everything, a tool everything but end the JVM: System.exit raises, and tells
# the status.
_POLICY = """\
grant codeBase "file:{py4j}" {{
  permission java.security.AllPermission;
}};
grant {{
  permission java.io.FilePermission "<<ALL FILES>>", "read,write,delete,execute,readlink";
  permission java.io.SerializablePermission "*";
  permission java.lang.management.ManagementPermission "control";
  permission java.lang.management.ManagementPermission "monitor";
  permission java.lang.reflect.ReflectPermission "*";
  permission java.net.NetPermission "*";
  permission java.net.SocketPermission "*", "accept,connect,listen,resolve";
  permission java.security.SecurityPermission "*";
  permission java.util.PropertyPermission "*", "read,write";
  permission java.util.logging.LoggingPermission "control";
  permission javax.management.MBeanPermission "*", "*";
  permission javax.management.MBeanServerPermission "*";
  permission javax.management.MBeanTrustPermission "*";
  permission javax.security.auth.AuthPermission "*";
{runtime}}};
"""
_RUNTIME = (
    "accessClassInPackage.*",
    "accessDeclaredMembers",
    "closeClassLoader",
    "createClassLoader",
    "defineClass",
    "enableContextClassLoaderOverride",
    "fileSystemProvider",
    "getClassLoader",
    "getFileSystemAttributes",
    "getProtectionDomain",
    "getStackTrace",
    "getenv.*",
    "loadLibrary.*",
    "modifyThread",
    "modifyThreadGroup",
    "reflectionFactoryAccess",
    "setContextClassLoader",
    "setDefaultUncaughtExceptionHandler",
    "setIO",
    "shutdownHooks",
)
# Where the tools are, beside all that they need.
_TOOLS = ("kafka_", "kafka-tools-")
# These count in their class the messages they read, and so are loaded anew each time.
_COUNTING = ("ConsoleConsumer",)
_EXIT = re.compile(r'"exitVM\.(-?\d+)"')


class Ended(NamedTuple):
    """How a tool ended: its exit status, and what it printed."""

    status: int
    out: str
    err: str


class Mains:
    """The JVM, started when a tool is first run; `folder` holds what it is configured with and its log.

    Tools run one after the other: what they print is the JVM's. Threads may ask at the same time.
    """

    def __init__(self, folder: Path, *, limit_s: float = LIMIT_S) -> None:
        self._folder = folder
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def run(self, release: Release, main: str, arguments: Sequence[str], stdin: str = "") -> Ended:
        """Run a class of a release to its end. Raises TimeoutError after `limit_s`."""
        with self._lock:
            if self._running is None:
                self._running = _Running(self._folder, self._limit_s)
            try:
                return self._running.run(release, main, arguments, stdin)
            except Py4JError as error:
                self._stop()  # what hangs goes with its JVM; the next tool has another
                told = f"{main} {' '.join(arguments)} did not end within {self._limit_s:g} s, or its JVM did"
                raise TimeoutError(told) from error

    def stop(self) -> None:
        """End the JVM."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._running:
            self._running.stop()
            self._running = None


class _Running:
    """The JVM while it runs.

    Nothing is called on an object of Kafka's own: Py4J takes classes of one name for one class.
    """

    def __init__(self, folder: Path, limit_s: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        policy, logging = folder / "policy", folder / "log4j.properties"
        runtime = "".join(f'  permission java.lang.RuntimePermission "{name}";\n' for name in _RUNTIME)
        policy.write_text(_POLICY.format(py4j=gateway.jar(), runtime=runtime))
        logging.write_text(LOGGING)
        options = (
            "-Djava.security.manager",
            f"-Djava.security.policy=={policy}",
            f"-Dlog4j.configuration=file:{logging}",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",  # for the hooks
        )
        self._jvm = gateway.Jvm(folder / "tools.log", options=options, heap_mb=_HEAP_MB, limit_s=limit_s)
        self._jvm.__enter__()
        self._java: Any = self._jvm.gateway.jvm.java
        self._methods: dict[tuple[str, str], Any] = {}
        self._below: dict[str, Any] = {}
        self._of_tools: dict[str, Any] = {}
        # Set before anything of Kafka: its log and Scala's console keep what they find.
        self._out, self._err = self._java.io.ByteArrayOutputStream(), self._java.io.ByteArrayOutputStream()
        self._java.lang.System.setOut(self._java.io.PrintStream(self._out, True, "UTF-8"))
        self._java.lang.System.setErr(self._java.io.PrintStream(self._err, True, "UTF-8"))
        hooks = self._java.lang.Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks")
        hooks.setAccessible(True)
        self._hooks = hooks.get(None)

    def stop(self) -> None:
        self._jvm.__exit__()

    def run(self, release: Release, main: str, arguments: Sequence[str], stdin: str) -> Ended:
        self._out.reset()
        self._err.reset()
        self._java.lang.System.setIn(self._java.io.ByteArrayInputStream(stdin.encode()))
        method = self._main(release, main)
        self._java.lang.Thread.currentThread().setContextClassLoader(
            method.getDeclaringClass().getClassLoader()
        )
        given = self._array(self._java.lang.Object, [self._array(self._java.lang.String, arguments)])
        thrown = ""
        try:
            method.invoke(None, given)
        except Py4JJavaError as error:
            thrown = str(error)  # its stack trace
        self._end()
        out, err = self._out.toString("UTF-8"), self._err.toString("UTF-8") + thrown
        # A tool that takes the exception for one of its own work exits once more; the first one counts.
        exit_ = _EXIT.search(err + out)
        return Ended(int(exit_[1]) if exit_ else int(thrown != ""), out, err)

    def _end(self) -> None:
        """What a JVM does at its end: a console producer sends what it still holds."""
        hooks = list(self._hooks.keySet().toArray())
        for hook in hooks:
            self._java.lang.Runtime.getRuntime().removeShutdownHook(hook)
            hook.start()
        for hook in hooks:
            hook.join()

    def _main(self, release: Release, main: str) -> Any:
        known = self._methods.get((release.version, main))
        if known is None:
            classes = self._java.lang.Class
            is_counting = main.rpartition(".")[2] in _COUNTING
            loader = self._above(release) if is_counting else self._tools(release)
            takes = self._array(classes, [classes.forName("[Ljava.lang.String;")])
            known = classes.forName(main, True, loader).getMethod("main", takes)
            if not is_counting:
                self._methods[release.version, main] = known
        return known

    def _tools(self, release: Release) -> Any:
        """The loader of a release's tools."""
        if release.version not in self._of_tools:
            self._of_tools[release.version] = self._above(release)
        return self._of_tools[release.version]

    def _above(self, release: Release) -> Any:
        """A new loader of the tools, above the one of all that they need."""
        if release.version not in self._below:
            self._below[release.version] = self._loader(
                jar for jar in jars.classpath(release) if not jar.name.startswith(_TOOLS)
            )
        tools = (jar for jar in jars.classpath(release) if jar.name.startswith(_TOOLS))
        return self._loader(tools, self._below[release.version])

    def _loader(self, found: Iterable[Path], *parent: Any) -> Any:
        urls = [self._java.io.File(str(jar)).toURI().toURL() for jar in found]
        return self._java.net.URLClassLoader(self._array(self._java.net.URL, urls), *parent)

    def _array(self, kind: Any, values: Sequence[Any]) -> Any:
        made = self._jvm.gateway.new_array(kind, len(values))
        for number, value in enumerate(values):
            made[number] = value
        return made
