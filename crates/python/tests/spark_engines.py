"""Engines for the tests of ``tidings.spark``: Sail in this process, or Spark with a master and two workers on loopback."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: Small tests need few tasks; batches of documents stay small.
SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "512",
    "spark.sql.session.timeZone": "UTC",
}
#: Seconds that a cluster may take to start.
PATIENCE = 120


@contextlib.contextmanager
def sail() -> Iterator[Any]:
    """A session of Sail, a server in this process."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://{host}:{port}").getOrCreate()
    for name, value in SETTINGS.items():
        with contextlib.suppress(Exception):  # Sail does not know all settings.
            session.conf.set(name, value)
    try:
        yield session
    finally:
        session.stop()
        server.stop()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Cluster:
    """A standalone Spark: a master and workers of one core each, all of them processes of this machine."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        import pyspark

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
        }
        self.port = _free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        master = ["master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0"]
        self._start("master", master, "New state: ALIVE")
        for number in range(workers):
            worker = ["worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g", self.url]
            self._start(f"worker-{number}", worker, "Successfully registered with master")

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, name: str, arguments: list[str], ready: str) -> None:
        log = self.folder / f"{name}.log"
        command = [str(self.home / "bin/spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        with open(log, "wb") as output:
            process = subprocess.Popen(
                command, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )
        self.processes.append(process)
        deadline = time.monotonic() + PATIENCE
        while ready not in log.read_text(errors="replace"):
            assert process.poll() is None, f"{name} ended: {log.read_text(errors='replace')}"
            assert time.monotonic() < deadline, f"{name} does not start: {log.read_text(errors='replace')}"
            time.sleep(0.1)

    def executors(self) -> list[int]:
        """The process ids of the executors, which are children of the workers."""
        found = []
        workers = {process.pid for process in self.processes}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if b"CoarseGrainedExecutorBackend" not in (entry / "cmdline").read_bytes():
                    continue
                session = int((entry / "stat").read_text().rpartition(") ")[2].split()[3])
                if session in workers:
                    found.append(int(entry.name))
        return sorted(found)

    def stop(self) -> None:
        """Ends the processes that were started here, with their children."""
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextlib.contextmanager
def spark(workers: int = 2) -> Iterator[tuple[Any, Cluster]]:
    """A session of Spark on a cluster of its own."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="tidings-spark-") as folder:
        cluster = Cluster(Path(folder), workers)
        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        builder = SparkSession.builder.master(cluster.url).appName("tidings")
        settings = {
            **SETTINGS,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.executor.memory": "700m",
            "spark.driver.memory": "700m",
            "spark.local.dir": f"{folder}/driver",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            # Short programs: compiling hot code a second time costs more than it saves.
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = None
        try:
            session = builder.getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
            yield session, cluster
        finally:
            if session is not None:
                session.stop()
            cluster.stop()


class Killer:
    """Kills an executor with -9 when a condition on the active stages holds, once."""

    def __init__(self, session: Any, cluster: Cluster, wanted: Callable[[list[Any]], bool]) -> None:
        self.tracker = session.sparkContext.statusTracker()
        self.cluster = cluster
        self.wanted = wanted
        self.killed: int | None = None
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self.done.wait(0.02):
            stages = [self.tracker.getStageInfo(stage) for stage in self.tracker.getActiveStageIds()]
            if self.wanted([stage for stage in stages if stage is not None]):
                executors = self.cluster.executors()
                if executors:
                    os.kill(executors[0], signal.SIGKILL)
                    self.killed = executors[0]
                    return

    def __enter__(self) -> Killer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()


def in_the_middle(tasks: int) -> Callable[[list[Any]], bool]:
    """A stage of at least so many tasks, of which some are done and some are not."""
    return lambda stages: any(
        stage.numTasks >= tasks and 0 < stage.numCompletedTasks < stage.numTasks for stage in stages
    )


def after_stages(number: int) -> Callable[[list[Any]], bool]:
    """A stage is active after so many others have been: there are shuffled files that can be lost."""
    seen: set[int] = set()

    def wanted(stages: list[Any]) -> bool:
        seen.update(stage.stageId for stage in stages)
        return len(seen) > number and bool(stages)

    return wanted
