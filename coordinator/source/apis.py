"""The functions through which a program reaches outside itself, by full name, and which argument is the target.

Where a library gives a client object, the calls on it are listed as of what made it: ``requests.Session().get``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from coordinator.source.facts import Kind

VERBS = ("get", "post", "put", "patch", "delete", "head", "options")


class Api(Struct, frozen=True):
    """What a call does. *place* and *named* are where its target stands; *place* -1: it has none that is told.

    *known* is the host that it goes to by itself. *client*: it only makes what the calls are made on; its target, where
    it is given one, is the host of all of them.
    """

    kind: Kind
    place: int = -1
    named: tuple[str, ...] = ()
    known: str = ""
    client: bool = False


URL = ("url", "uri", "base_url", "baseURL", "baseUrl", "prefixUrl", "address", "endpoint")
HOST = ("host", "hostname", "address", "hostaddr", "path")


def _each(kind: Kind, names: Iterable[str], place: int = -1, named: tuple[str, ...] = ()) -> Iterator[tuple[str, Api]]:
    for name in names:
        yield name, Api(kind, place, named)


def _http(modules: Iterable[str], clients: Iterable[str]) -> Iterator[tuple[str, Api]]:
    for module in modules:
        yield from _each(Kind.NETWORK, (f"{module}.{verb}" for verb in VERBS), 0, URL)
        yield f"{module}.request", Api(Kind.NETWORK, 1, URL)
        yield f"{module}.stream", Api(Kind.NETWORK, 1, URL)
    for client in clients:
        yield client, Api(Kind.NETWORK, 0 if client == "aiohttp.ClientSession" else -1, URL, client=True)
        for verb in (*VERBS, "ws_connect"):
            yield f"{client}().{verb}", Api(Kind.NETWORK, 0, URL)
        yield f"{client}().request", Api(Kind.NETWORK, 1, URL)
        yield f"{client}().stream", Api(Kind.NETWORK, 1, URL)
        yield f"{client}().urlopen", Api(Kind.NETWORK, 1, URL)


def _python() -> Iterator[tuple[str, Api]]:
    yield from _http(
        ("requests", "httpx", "aiohttp", "requests.api", "urllib3", "curl_cffi.requests", "niquests"),
        (
            "requests.Session", "requests.session", "requests.sessions.Session", "httpx.Client", "httpx.AsyncClient",
            "aiohttp.ClientSession", "urllib3.PoolManager", "urllib3.ProxyManager", "aiohttp.client.ClientSession",
        ),
    )  # fmt: skip
    yield from _each(Kind.NETWORK, ("urllib.request.urlopen", "urllib.request.urlretrieve", "pycurl.Curl"), 0, URL)
    yield "urllib.request.build_opener", Api(Kind.NETWORK, client=True)
    yield "urllib.request.build_opener().open", Api(Kind.NETWORK, 0, URL)
    hosts = (
        "http.client.HTTPConnection", "http.client.HTTPSConnection", "socket.create_connection",
        "asyncio.open_connection", "socket.socket().connect", "socket.socket().connect_ex", "socket.getaddrinfo",
        "socket.gethostbyname", "socket.gethostbyname_ex", "smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP",
        "ftplib.FTP_TLS", "imaplib.IMAP4", "imaplib.IMAP4_SSL", "poplib.POP3", "telnetlib.Telnet",
        "websockets.connect", "websockets.client.connect", "websockets.sync.client.connect",
        "websocket.create_connection", "paramiko.SSHClient().connect", "grpc.insecure_channel",
        "grpc.secure_channel", "grpc.aio.insecure_channel", "grpc.aio.secure_channel", "dns.resolver.resolve",
        "redis.Redis", "redis.from_url", "pymongo.MongoClient", "xmlrpc.client.ServerProxy", "asyncpg.connect",
        "psycopg.connect", "psycopg2.connect", "pymysql.connect", "elasticsearch.Elasticsearch",
    )  # fmt: skip
    yield from _each(Kind.NETWORK, hosts, 0, (*HOST, *URL))
    yield "socket.socket().sendto", Api(Kind.NETWORK, 1)
    for name, host in (
        ("openai.OpenAI", "api.openai.com"), ("openai.AsyncOpenAI", "api.openai.com"),
        ("anthropic.Anthropic", "api.anthropic.com"), ("anthropic.AsyncAnthropic", "api.anthropic.com"),
    ):  # fmt: skip
        yield name, Api(Kind.NETWORK, named=("base_url",), known=host)
    yield from _each(Kind.NETWORK, ("boto3.client", "boto3.resource"), named=("endpoint_url",))
    shells = [f"os.{name}" for name in (
        "system", "popen", "execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe", "fork",
        "forkpty", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe",
        "posix_spawn", "posix_spawnp", "startfile",
    )]  # fmt: skip
    shells += [f"subprocess.{name}" for name in (
        "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"
    )]  # fmt: skip
    shells += ["asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "pty.spawn", "commands.getoutput"]
    shells += ["posix.system", "anyio.run_process", "anyio.open_process", "trio.run_process", "pexpect.spawn"]
    shells += ["sh.Command", "plumbum.local", "paramiko.SSHClient().exec_command"]
    yield from _each(Kind.PROCESS, shells, 0, ("args", "cmd", "command"))
    dynamic = (
        "eval", "exec", "compile", "pickle.load", "pickle.loads", "pickle.Unpickler", "_pickle.loads", "cPickle.loads",
        "marshal.load", "marshal.loads", "dill.load", "dill.loads", "cloudpickle.load", "cloudpickle.loads",
        "shelve.open", "jsonpickle.decode", "yaml.unsafe_load", "yaml.full_load", "runpy.run_path",
        "runpy.run_module", "code.interact", "code.InteractiveInterpreter", "ctypes.CDLL", "ctypes.cdll.LoadLibrary",
        "types.FunctionType", "types.CodeType", "joblib.load",
    )  # fmt: skip
    yield from _each(Kind.DYNAMIC, dynamic)
    opened = ("open", "io.open", "codecs.open", "aiofiles.open", "anyio.open_file", "os.open", "io.FileIO")
    yield from _each(Kind.READ, opened, 0, ("file", "filename", "path"))
    read = [f"os.{name}" for name in ("listdir", "scandir", "walk", "readlink")]
    read += ["glob.glob", "glob.iglob", "fileinput.input", "linecache.getline", "mmap.mmap"]
    yield from _each(Kind.READ, read, 0, ("path", "top", "pathname"))
    write = [f"os.{name}" for name in (
        "remove", "unlink", "rmdir", "removedirs", "mkdir", "makedirs", "rename", "replace", "truncate", "chmod",
        "chown", "symlink", "link",
    )]  # fmt: skip
    write += ["shutil.rmtree"]
    yield from _each(Kind.WRITE, write, 0, ("path",))
    moved = [f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move")]
    yield from _each(Kind.WRITE, [*moved, "shutil.make_archive", "shutil.unpack_archive"], 1, ("dst", "extract_dir"))


PATH_READS = frozenset({"read_text", "read_bytes", "iterdir", "glob", "rglob", "walk"})
PATH_WRITES = frozenset(
    {"write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "rename", "replace", "symlink_to", "hardlink_to"}
)


def _javascript() -> Iterator[tuple[str, Api]]:
    for name in ("fetch", "axios", "got", "ky", "node-fetch", "cross-fetch", "undici.fetch", "undici.request",
                 "superagent", "request", "needle", "undici.stream", "ofetch.ofetch", "ofetch.$fetch", "ws",
                 "WebSocket", "EventSource", "ws.WebSocket", "eventsource", "navigator.sendBeacon", "importScripts",
                 "isomorphic-fetch", "phin", "wretch", "undici.connect"):  # fmt: skip
        yield name, Api(Kind.NETWORK, 0, URL)
    for client in ("axios", "got", "ky", "superagent", "needle", "request", "axios.create()", "got.extend()",
                   "ky.create()", "axios.Axios()"):  # fmt: skip
        yield from _each(Kind.NETWORK, (f"{client}.{verb}" for verb in VERBS), 0, URL)
        yield f"{client}.request", Api(Kind.NETWORK, 0, URL)
    yield "axios.create()", Api(Kind.NETWORK, 0, URL)
    for maker in ("axios.create", "got.extend", "ky.create", "undici.Client", "undici.Pool"):
        yield maker, Api(Kind.NETWORK, 0, URL, client=True)
    for module in ("http", "https"):
        yield from _each(Kind.NETWORK, (f"{module}.get", f"{module}.request"), 0, (*HOST, *URL))
    yield "http2.connect", Api(Kind.NETWORK, 0, URL)
    for name in ("net.connect", "net.createConnection", "tls.connect", "net.Socket().connect"):
        yield name, Api(Kind.NETWORK, 1, HOST)
    yield "XMLHttpRequest().open", Api(Kind.NETWORK, 1, URL)
    yield "dgram.createSocket().send", Api(Kind.NETWORK, 4)
    for name in ("lookup", "resolve", "resolve4", "resolve6", "resolveTxt"):
        yield f"dns.{name}", Api(Kind.NETWORK, 0, HOST)
        yield f"dns.promises.{name}", Api(Kind.NETWORK, 0, HOST)
    yield "Deno.connect", Api(Kind.NETWORK, 0, HOST)
    yield "openai", Api(Kind.NETWORK, named=("baseURL",), known="api.openai.com")
    yield "@anthropic-ai/sdk", Api(Kind.NETWORK, named=("baseURL",), known="api.anthropic.com")
    shells = [f"child_process.{name}" for name in ("exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync",
                                                   "fork")]  # fmt: skip
    shells += ["Deno.run", "Deno.Command", "Bun.spawn", "Bun.spawnSync", "Bun.$", "execa.execa", "execa.execaCommand",
               "execa", "cross-spawn", "shelljs.exec", "zx.$", "process.binding", "node-pty.spawn"]  # fmt: skip
    yield from _each(Kind.PROCESS, shells, 0)
    dynamic = ("eval", "Function", "vm.runInNewContext", "vm.runInThisContext", "vm.runInContext", "vm.Script",
               "vm.compileFunction", "vm.SourceTextModule", "vm2.VM", "vm2.NodeVM", "WebAssembly.instantiate",
               "WebAssembly.compile", "process.dlopen", "node-serialize.unserialize")  # fmt: skip
    yield from _each(Kind.DYNAMIC, dynamic)
    read = ("readFile", "readFileSync", "createReadStream", "readdir", "readdirSync", "open", "openSync", "opendir",
            "opendirSync", "readlink", "readlinkSync", "readJson", "readJsonSync", "openAsBlob")  # fmt: skip
    write = ("writeFile", "writeFileSync", "appendFile", "appendFileSync", "createWriteStream", "unlink", "unlinkSync",
             "rm", "rmSync", "rmdir", "rmdirSync", "mkdir", "mkdirSync", "rename", "renameSync", "truncate",
             "truncateSync", "chmod", "chmodSync", "chown", "chownSync", "symlink", "symlinkSync", "outputFile",
             "writeJson", "remove", "emptyDir")  # fmt: skip
    for module in ("fs", "fs.promises", "fs-extra", "graceful-fs"):
        yield from _each(Kind.READ, (f"{module}.{name}" for name in read), 0)
        yield from _each(Kind.WRITE, (f"{module}.{name}" for name in write), 0)
        for name in ("copyFile", "copyFileSync", "cp", "cpSync"):
            yield f"{module}.{name}", Api(Kind.WRITE, 1)
    yield from _each(Kind.READ, ("Deno.readFile", "Deno.readTextFile", "Deno.readDir", "Bun.file", "Deno.open"), 0)
    yield from _each(Kind.WRITE, ("Deno.writeFile", "Deno.writeTextFile", "Deno.remove", "Bun.write"), 0)


PYTHON = dict(_python())
JAVASCRIPT = dict(_javascript())
