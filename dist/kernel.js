import { UsageError, byName, commitId, diffName, document, driversOf, interfaceRoles, isLoaded, isPlain as isPlain$1, lastLine, line, list, mostDocument, name, ordinal, overlayFiles, path as path$1, pathName, plainLine, reasonOf, seconds, total, variant, withoutSequences } from "./model.js";
import { _enum, base64, discriminatedUnion, literal, object } from "./vendor/zod.js";
import { systemOf } from "./config.js";
import { RepositoryError, checkDiff, isAsSaid, objectsAlone, rawChanges, whyGitRefuses } from "./forge/patch.js";
import { HostError, shell, thisMachine } from "./system/host.js";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { closeSync, createReadStream, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { PassThrough } from "node:stream";
import { createHash, randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

// src/system/own-file.ts
/** The message is a clause on the file or folder, with the fix. */
var ExposedPlaceError = class extends Error {
	name = "ExposedPlaceError";
	conclusion = "usage";
};
/**
* Checks the file, its folder, and SQLite's files next to it, as far as they exist. Each must belong to this user or
* root, or be writable for a group of this user. None may be writable for all users.
*/
function checkOwn(path) {
	checkPlace(dirname(path));
	for (const end of [
		"",
		"-wal",
		"-shm",
		"-journal"
	]) checkPlace(path + end);
}
/** Checks the mode only, for files of any owner. Throws an ExposedPlaceError. */
function checkNotOpen(path) {
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats === void 0 || (stats.mode & 2) === 0) return;
	if (stats.isDirectory() && (stats.mode & 512) !== 0) return;
	throw new ExposedPlaceError(`${path} has the mode ${(stats.mode & 511).toString(8)}, by which any user may write it: see who has, and run 'chmod o-w ${path}', or remove it`);
}
function checkPlace(path) {
	checkNotOpen(path);
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats === void 0 || isOurs(stats)) return;
	throw new ExposedPlaceError(`${path} belongs to the user ${stats.uid}: remove it, or give it to this user or to a group of both that may write it`);
}
/** True for files of this user, of root, and of the user who called sudo, whose files root shares. */
function isOwned({ uid }) {
	const own = process.geteuid?.();
	if (own === void 0 || uid === 0 || uid === own) return true;
	return own === 0 && process.env.SUDO_UID === String(uid);
}
function isOurs({ uid, gid, mode }) {
	if (isOwned({ uid })) return true;
	return (mode & 16) !== 0 && (process.getgroups?.() ?? []).includes(gid);
}

// src/kernel/builder-error.ts
/** The message is one sentence that includes the fix. */
var BuilderError = class extends Error {
	name = "BuilderError";
};

// src/kernel/private-places.ts
/**
* Runs as root in new namespaces. Its arguments are two folders, which stay in place, and a command, which gets its own
* /run, /tmp, /var/tmp, /dev and /proc. Fails rather than run the command without them.
*
* A network namespace separates abstract sockets only. Sockets bound elsewhere are covered one by one, those of all
* network namespaces. The working directory still leads to the old folders, so the script enters it again.
*/
const privatePlaces = String.raw`
set -e
umask 022
folder=$1 repository=$2
shift 2
sockets=$(find /proc/[0-9]*/ns/net -maxdepth 0 -printf '%l %h\n' 2>/dev/null | sort -u -k 1,1 |
  sed 's/.* //; s/ns$/net\/unix/' | xargs cat 2>/dev/null |
  sed -n 's/^[^/]* \(\/.*\)/\1/p' | sort -u) || true
exec 3<&- 4<&-
if test -d "$folder"; then exec 3<"$folder"; fi
if test -d "$repository"; then exec 4<"$repository"; fi

for place in /run /tmp /var/tmp; do
  mount -t tmpfs -o nosuid,nodev,mode=1777 private "$place"
done
chmod 755 /run
mount -t tmpfs -o nosuid,mode=755 private /dev
mkdir -m 1777 /dev/shm
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/zero c 1 5
mknod -m 666 /dev/full c 1 7
mknod -m 666 /dev/random c 1 8
mknod -m 666 /dev/urandom c 1 9
mknod -m 666 /dev/tty c 5 0
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr

restore() {
  test -d "/proc/self/fd/$1" || return 0
  mkdir -p "$2"
  mount --no-canonicalize --rbind "/proc/self/fd/$1" "$2"
}
restore 3 "$folder"
restore 4 "$repository"
exec 3<&- 4<&-

echo "$sockets" | while IFS= read -r socket; do
  if test -S "$socket"; then mount --bind /dev/null "$socket"; fi
done
mount -t proc private /proc
cd "$PWD" 2>/dev/null || cd /
exec "$@"
`;

// src/kernel/jail.ts
/** Without a jail, runs the command as the login's user. */
function inJail({ jail, folder, repository }, command) {
	if (jail === void 0) return command;
	const { name, user } = jail;
	if (name !== void 0) return shell`jexec -u ${user} ${name} ${command}`;
	const become = shell`setpriv --reuid $(id -u ${user}) --regid $(id -g ${user}) --clear-groups --no-new-privs`;
	const confined = shell`${become} sh -c ${firstProcess} build ${command}`;
	return shell`${namespaces} sh -c ${privatePlaces} private ${folder} ${repository} ${confined}`;
}
/** Has no network. All processes, even daemons, end with the first one. */
const namespaces = shell`unshare --net --ipc --mount --pid --fork --kill-child`;
/** The first process of a PID namespace ignores signals without a handler. */
const firstProcess = "trap \"exit 143\" TERM; \"$@\" & wait \"$!\"";
/** Creates or reuses a folder that the build may write to. */
const buildFolder = ({ jail }, path) => jail === void 0 ? shell`mkdir -p ${path}` : shell`mkdir -p ${path} && chown ${jail.user} ${path}`;
/** Returns the first gap through which a build could reach the network, the cache or the clone. */
async function jailProblem(host, place, timeoutSeconds = 60) {
	const { system, jail, folder, repository } = place;
	const limits = { timeoutSeconds };
	if (jail === void 0) return system === "linux" ? whyRoot(host, limits) : void 0;
	const { name, user } = jail;
	const problem = await (name === void 0 ? whyNoNamespaces(host, user, place, limits) : whyNoJail(host, {
		name,
		user
	}, place, limits));
	if (problem !== void 0) return problem;
	const named = name === void 0 ? user : `${user} in the jail ${name}`;
	const places = [
		folder,
		`${folder}/cache`,
		repository,
		`${repository}/.git`
	];
	const [writablePlace] = (await host.run(inJail(place, shell`sh -c ${writableScript} w ${places}`), limits)).stdout.split("\n").filter(Boolean);
	if (writablePlace !== void 0) {
		const fix = `\`chown -R root ${writablePlace}\` and \`chmod -R go-w ${writablePlace}\` on ${host.name}`;
		return {
			why: `${named} may write to ${writablePlace}`,
			fix
		};
	}
	if (isGood(await host.run(shell`test -d ${folder}`, limits)) && !isGood(await host.run(inJail(place, shell`test -x ${folder}`), limits))) {
		const fix = name === void 0 ? "let all users through to it" : "give it `path = \"/\";`";
		return {
			why: `${named} cannot see ${folder}`,
			fix
		};
	}
}
/** Returns sockets that any user may write to. A jail(8) whose path is / has those of its host. */
async function socketsInJail(host, place, timeoutSeconds) {
	const find = shell`find /var/run/ /tmp/ /var/tmp/ -xdev -type s -perm -0002`;
	const { stdout } = await host.run(inJail(place, find), { timeoutSeconds });
	return stdout.split("\n").filter(Boolean);
}
async function whyNoJail(host, jail, place, limits) {
	const { name, user } = jail;
	const named = `the jail ${name}`;
	const network = await host.run(shell`jls -j ${name} ip4 ip6`, limits);
	if (!isGood(network)) {
		const fix = `write it into /etc/jail.conf of ${host.name}, and \`service jail start ${name}\``;
		return {
			why: `${named} does not run`,
			fix
		};
	}
	if (network.stdout.trim() !== "disable disable") {
		const fix = `\`ip4 = disable; ip6 = disable;\` in its /etc/jail.conf, and \`service jail restart ${name}\``;
		return {
			why: `${named} has a network`,
			fix
		};
	}
	if ((await host.run(shell`jls -j ${name} allow.sysvipc`, limits)).stdout.trim() === "true") {
		const fix = `remove \`allow.sysvipc\` from its /etc/jail.conf, and \`service jail restart ${name}\``;
		return {
			why: `${named} shares memory with ${host.name}`,
			fix
		};
	}
	const id = await host.run(inJail(place, shell`id -u`), limits);
	const add = `\`pw useradd ${user} -d /nonexistent -s /usr/sbin/nologin\` on ${host.name}`;
	if (!isGood(id)) return {
		why: `${named} does not know ${user}: ${lastLine(id.stderr) ?? ""}`,
		fix: add
	};
	return Number(id.stdout) === 0 ? {
		why: `${user} in ${named} is root`,
		fix: add
	} : void 0;
}
async function whyNoNamespaces(host, user, place, limits) {
	const fix = `\`useradd --system --shell /usr/sbin/nologin ${user}\` on ${host.name}`;
	const id = await host.run(shell`id -u ${user}`, limits);
	if (!isGood(id)) return {
		why: `there is no user ${user}`,
		fix
	};
	if (Number(id.stdout) === 0) return {
		why: `${user} is root`,
		fix
	};
	const inside = await host.run(inJail(place, shell`id -u`), limits);
	if (isGood(inside) && inside.stdout === id.stdout) return void 0;
	return {
		why: `a build cannot be kept as ${user}, without network: ${lastLine(inside.stderr) ?? ""}`,
		fix: "run ppsgate as root, with unshare, setpriv and mount of util-linux"
	};
}
/** Without a jail, a site may trust its users; a build never runs as root. */
async function whyRoot(host, limits) {
	const id = await host.run(shell`id -u`, limits);
	return isGood(id) && Number(id.stdout) !== 0 ? void 0 : {
		why: "the login is of root",
		fix: "name another `user` in ppsgate.yml"
	};
}
const writableScript = "for place do if test -w \"$place\"; then echo \"$place\"; fi; done";
const isGood = (outcome) => outcome.kind === "exited" && outcome.code === 0;

// src/kernel/cross-build.ts
/** Throws a BuilderError if the given folder, or without one the whole builder, lacks clang or lld. */
async function crossToolsOf(host, { toolFolder }) {
	const { stdout } = await host.run(shell`sh -c ${findToolsScript} tools ${toolFolder ?? ""}`);
	const folder = stdout.trim();
	if (folder !== "") return {
		clang: `${folder}/clang`,
		lld: `${folder}/ld.lld`
	};
	throw new BuilderError(toolFolder === void 0 ? `${host.name} has no clang with ld.lld in /usr/lib/llvm-*/bin or /usr/bin, which build FreeBSD's kernels; install them, as by "apt-get install clang lld".` : `${host.name} has no clang with ld.lld in ${toolFolder}, which build FreeBSD's kernels; correct \`builder.tools\` in ppsgate.yml.`);
}
/** Debian and Ubuntu install each release of LLVM in its own folder. */
const findToolsScript = `
for folder in \${1:-$(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -V -r) /usr/bin}; do
  if test -x "$folder/clang" && test -x "$folder/ld.lld"; then echo "$folder"; exit; fi
done
`;
/** make.py runs bmake's own tests, which write files next to themselves. git(1) removes those before the next build. */
const bmakeTests = "contrib/bmake/unit-tests";
/**
* Runs the tree's make.py, which builds bmake first. bmake's own test fails if SIGINT is ignored, as in background jobs
* of a shell.
*/
function crossMake(source, { clang }) {
	const folder = clang.slice(0, clang.lastIndexOf("/"));
	const program = [
		`${source}/tools/build/make.py`,
		"--no-clean",
		`--cross-bindir=${folder}`
	];
	const words = [
		"TARGET=amd64",
		"TARGET_ARCH=amd64",
		...withoutCompiler
	];
	return shell`env --default-signal=INT,QUIT python3 ${program} ${words}`;
}
/** Programs of the target that a kernel does not need, and whose generators are most of a toolchain's build (Makefile.inc1). */
const withoutCompiler = [
	"CLANG",
	"LLD",
	"LLDB",
	"LLVM_BINUTILS"
].map((name) => `-DWITHOUT_${name}`);
/**
* Returns why modules in a kernel's folder cannot be loaded, one sentence each. The kernel linker knows only a few
* types of relocations (elf_machdep.c in FreeBSD's sys/amd64). It resolves symbols from the kernel and other modules
* only.
*/
async function whyNotLoadable(host, place, kernelFolder) {
	const command = shell`sh -c ${loadableScript} loadable ${kernelFolder} ${knownRelocations}`;
	const { stdout, stderr } = await host.run(inJail(place, command), { timeoutSeconds: 600 });
	const lines = stdout.split("\n").filter(Boolean);
	if (lines.at(-1) !== "done") throw new BuilderError(`The modules of a kernel could not be examined on ${host.name} (${lastLine(stderr) ?? "no word"}): install binutils there.`);
	return lines.slice(0, -1).map((line) => {
		const [kind, module = "", name = "", symbol = ""] = plainLine(line, 200).split(" ");
		return kind === "relocation" ? `${module} cannot be loaded: it reaches ${symbol} by ${name}, which FreeBSD's kernel linker refuses; build without stack protection (\`options: [-DWITHOUT_SSP]\`), or by another clang (\`tools\`).` : `${module} cannot be loaded: neither the kernel nor another module that was built has ${name}.`;
	});
}
const knownRelocations = [
	"NONE",
	"64",
	"PC32",
	"PLT32",
	"32S",
	"GLOB_DAT",
	"JUMP_SLO",
	"JUMP_SLOT",
	"RELATIVE",
	"IRELATIV",
	"IRELATIVE"
].join("|");
/** Prints at most twenty faults. Symbols that the kernel linker creates itself are no fault. */
const loadableScript = `
set -e
cd "$1"
for module in *.ko; do
  test -e "$module" || continue
  readelf -rW "$module" |
    awk -v module="$module" -v known="^R_X86_64_($2)$" \\
      '$3 ~ /^R_/ && $3 !~ known && !seen[$3]++ { print "relocation", module, $3, $5 }'
done | head -n 20
{
  nm --defined-only kernel *.ko 2>/dev/null | awk 'NF == 3 { print "has", $3 }'
  for module in *.ko; do
    test -e "$module" || continue
    nm --undefined-only "$module" | awk -v module="$module" '$1 == "U" { print "wants", $2, module }'
  done
} | awk '
  $1 == "has" { has[$2] = 1 }
  $1 == "wants" && !($2 in has) && $2 !~ /^(__(start|stop)_set_|_GLOBAL_OFFSET_TABLE_$)/ { print "symbol", $3, $2 }
' | head -n 20
echo done
`;

// src/kernel/kernel-key.ts
/** Releases and checksums of programs: a rebuilt one may keep its version. Throws a HostError without a compiler. */
async function toolsOf(host, { system, recipe }, signal) {
	const { programs, script } = toolsBySystem[system];
	const own = recipe.kind === "make" && recipe.cross !== void 0 ? Object.values(await crossToolsOf(host, recipe.cross)) : ownPrograms(recipe);
	return host.output(shell`sh -c ${script} tools ${programs} ${own}`, { signal });
}
function ownPrograms(recipe) {
	if (recipe.kind === "command") return recipe.argv;
	return recipe.kind === "linux" ? recipe.options.map((option) => option.replace(/^\w+=/, "")) : [];
}
/** A single line, as csh(1) accepts no other. */
const pathsOfPrograms = "for program do path=$(command -v \"$program\") && test -f \"$path\" && set -- \"$@\" \"$path\"; shift; done";
/** Programs of the builder that make runs before, or instead of, the ones it has built. */
const toolsBySystem = {
	freebsd: {
		programs: [
			"make",
			"cc",
			"ld",
			"as",
			"config",
			"awk",
			"nm",
			"objcopy",
			"size",
			"ctfconvert",
			"ctfmerge",
			"sh",
			"sed",
			"file2c",
			"uudecode",
			"rpcgen",
			"gensetdefs",
			"tar"
		],
		script: [
			"cc --version && ld --version && uname -m -r && freebsd-version -u || exit 1",
			pathsOfPrograms,
			"sha256 -r \"$@\"",
			"find -L /usr/share/mk -maxdepth 1 -name \"local.*\" -type f -exec sha256 -r {} +",
			"exit 0"
		].join("; ")
	},
	linux: {
		programs: [
			"make",
			"gcc",
			"ld",
			"as",
			"ar",
			"nm",
			"objcopy",
			"objdump",
			"readelf",
			"strip",
			"clang",
			"ld.lld",
			"llvm-ar",
			"llvm-nm",
			"llvm-objcopy",
			"llvm-strip",
			"rustc",
			"pahole",
			"flex",
			"bison",
			"bc",
			"sh",
			"awk",
			"sed",
			"perl",
			"python3",
			"gzip",
			"xz",
			"zstd",
			"tar"
		],
		script: [
			"gcc --version && ld --version && make --version && uname -m || exit 1",
			pathsOfPrograms,
			"sha256sum \"$@\""
		].join("; ")
	}
};
/**
* The tree's id covers its files. A kernel with files from outside gets a unique key, as changes to those are unknown.
*/
async function keyOf(host, { recipe, jail }, tree, tools, signal) {
	const configs = recipe.kind === "make" && recipe.kernelConfigFolder !== void 0 ? await configsIn(host, recipe.kernelConfigFolder, signal) : {
		sums: [],
		leadsOutside: false
	};
	const isOutside = configs.leadsOutside || outsideOptions(recipe).length > 0 || recipe.kind === "linux" && namesFiles.test(recipe.kernelConfig);
	const parts = [
		keyVersion,
		tree,
		tools,
		ingredientsOf(recipe),
		configs.sums,
		jail ?? "no jail"
	];
	if (isOutside) parts.push(randomUUID());
	return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
/** The first layout variant has the kernel's own key. */
const keyOfLayout = (key, layout) => layout === 1 ? key : createHash("sha256").update(`${key} ${layout}`).digest("hex");
/** Increase it when the same ingredients yield a different kernel. */
const keyVersion = 2;
/** Omits the number of jobs, which does not change the kernel. */
function ingredientsOf(recipe) {
	if (recipe.kind === "command") return [
		recipe.kind,
		recipe.kernelConfig,
		recipe.argv
	];
	if (recipe.kind === "linux") return [
		recipe.kind,
		recipe.kernelConfig,
		recipe.clean,
		recipe.options
	];
	const { kind, kernelConfig, clean, metaMode, toolchain, options, cross } = recipe;
	return [
		cross === void 0 ? kind : "cross",
		kernelConfig,
		clean,
		metaMode,
		toolchain,
		options
	];
}
/** Options by which make(1) reads files that neither the tree nor the key covers. */
function outsideOptions(recipe) {
	if (recipe.kind === "command") return [];
	if (recipe.kind === "linux") return recipe.options.filter((option) => /^(?:LLVM=-|CROSS_COMPILE)|[/$]/.test(option));
	return recipe.options.filter((option) => {
		const [name = "", value = ""] = option.split(/=(.*)/s);
		if (/^(?:-D)?(?:LOCAL_|PORTS_MODULES|CROSS_TOOLCHAIN)/.test(name)) return true;
		return /^(?:MODULES_OVERRIDE|MODULES_EXTRA|WITHOUT_MODULES)$/.test(name) ? /^\/|\s\/|\.\.|\$/.test(value) : /[/$]/.test(value);
	});
}
/** Options of a Linux configuration that name files on the builder. */
const namesFiles = /^CONFIG_(?:INITRAMFS_SOURCE|EXTRA_FIRMWARE|SYSTEM_(?:TRUSTED|REVOCATION)_KEYS)="[^"]/m;
/** Includes all files of the folder, as a configuration may include any of them. A link counts as its target. */
async function configsIn(host, folder, signal) {
	const files = shell`find -L ${folder} -maxdepth 1 -type f`;
	const listing = await host.output(shell`${files} -exec sha256 -r {} +`, { signal });
	const outside = await host.run(shell`${files} -exec grep -E ${includesOutside} {} +`, { signal });
	return {
		sums: listing.split("\n").filter(Boolean).toSorted(),
		leadsOutside: outside.stdout.trim() !== ""
	};
}
/** See config(5). Options of make also name modules of the tree with a slash. */
const includesOutside = "^[[:space:]]*((include|files|hints|env)[[:space:]].*/|makeoptions[[:space:]].*([=\"[:space:]]|-[BIL])/)";

// src/kernel/kernel-sources.ts
/**
* Returns whether a changed file may change a kernel. Only the makefiles of FreeBSD and Linux are known to ignore
* files; any other file counts. A needless measurement costs an hour; a wrong "unchanged" hides a regression.
* @param makefile Makefile.inc1 of FreeBSD's base, which names all programs of the build; absent in other trees.
*/
function mayChangeKernel(path, { recipe, folder }, makefile) {
	switch (recipe.kind) {
		case "make": return mayChangeFreebsd(path, recipe, folder, makefile);
		case "linux": return mayChangeLinux(path, recipe);
		case "command": return true;
	}
}
function mayChangeFreebsd(path, { kernelConfigFolder = "", options }, folder, makefile) {
	if (makefile === void 0) return true;
	if (kernelConfigFolder.startsWith(`${folder}/`) || !options.every(isPlain)) return true;
	if (isOfBuild(path)) return true;
	return !(isDocument(path) || isManual(path) || isUserland(path, makefile));
}
/** False for options whose values are files to make(1): `LOCAL_TOOL_DIRS`, `PORTS_MODULES`. */
const isPlain = (option) => /^(?:-D\w+|(?:MODULES_OVERRIDE|WITHOUT_MODULES|TARGET|TARGET_ARCH)=.*)$/.test(option);
/** Cleaning reads makefiles of programs that are not built. `.gitattributes` controls how files are checked out. */
const isOfBuild = (path) => /(?:^|\/)(?:(?:BSD|GNU)?[Mm]akefile[^/]*|[^/]+\.(?:mk|inc)|\.git[^/]*)$/.test(path);
/** Excludes parts of `share`: newvers.sh has read the copyright in `share/examples` into the kernel. */
const isDocument = (path) => /^(?:share\/(?:doc|man)|release|tests)\/|^(?:CONTRIBUTING\.md|MAINTAINERS|README(?:\.md)?|RELNOTES|UPDATING)$/.test(path);
/** `contrib` and `sys` have few manuals, not worth a rule. */
const isManual = (path) => /^(?:cddl|lib|libexec|s?bin|secure|usr\.s?bin)\/.+\.[1-9]$/.test(path);
/** Some programs of the userland are built first, and then build the kernel. */
function isUserland(path, makefile) {
	const [program] = /^(?:libexec|s?bin|usr\.s?bin)\/[^/]+(?=\/)/.exec(path) ?? [];
	return program !== void 0 && !makefile.includes(program) && !isMake.test(program);
}
/** Built by the tree's own Makefile if the builder's make is too old. Makefile.inc1 does not name it. */
const isMake = /^usr\.bin\/b?make$/;
function mayChangeLinux(path, recipe) {
	if (outsideOptions(recipe).length > 0) return true;
	return isOfBuild(path) || isKconfig(path) || !isBesideLinux(path);
}
/** The configuration reads them all, including those of `Documentation` and `samples`. */
const isKconfig = (path) => /(?:^|\/)(?:Kconfig|Kbuild)[^/]*$/.test(path);
/** Excludes parts of `tools`: the build uses objtool and its libraries. */
const isBesideLinux = (path) => /^(?:Documentation|LICENSES|samples|tools\/(?:memory-model|net|perf|power|testing|tracing|usb|virtio))\/|^(?:CREDITS|MAINTAINERS|README)$|\.rst$/.test(path);

// src/kernel/overlay.ts
const overlaySchema = object({
	/** `base`, `patched`, `diff 80345`. */
	variant,
	commit: name,
	/** Path of the files' folder in the repository, empty for its top; absent without one. */
	folder: path$1.optional(),
	/** Interfaces that the files name, and the ports that they stand for. */
	interfaces: byName(_enum(interfaceRoles)).exactOptional(),
	files: list(object({
		path: path$1,
		/** Path in the repository where the overlay is no folder. */
		source: path$1.exactOptional(),
		/** Git's mode: `100644` for a plain file. The DUT's system determines which modes it can load. */
		mode: name,
		content: document,
		sha256: name
	}))
});
/**
* Reads the overlay at the patch's merge base, at its head and of earlier diffs, so that later changes of the branch do
* not count. Throws a `RepositoryError` if neither base nor patched has a file: comparing nothing would pass.
*/
async function buildOverlays(patch, place, repository) {
	const source = await sourceOf(place, repository);
	const { base, changed } = await commitsOf(patch, repository);
	const overlays = await Promise.all([base, ...changed].map((variant) => readOverlay(repository, variant, source)));
	const missing = missingIn(overlays.slice(0, 2), source);
	if (missing !== void 0) throw new RepositoryError(`${missing} at ${base.commit} nor at ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`);
	return overlays;
}
/** Finds the patch's merge base and orders the variants: patched comes before diffs that are only shown. */
async function commitsOf(patch, repository) {
	const commit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	return {
		base: {
			variant: "base",
			commit
		},
		changed: [{
			variant: "patched",
			commit: patch.headCommit
		}, ...earlier.map(({ diff, headCommit }) => ({
			variant: diffName(diff),
			commit: headCommit
		}))]
	};
}
async function readOverlay(repository, { variant, commit }, source) {
	const entries = await entriesOf(repository, commit, source);
	if (entries.length > mostFiles) throw new RepositoryError(`The folder ${pathsIn(source).join() || "."} holds ${entries.length} files at ${commit}, and an overlay at most ${mostFiles}: keep other files elsewhere.`);
	const files = await Promise.all(entries.map(async ({ object, ...entry }) => {
		const content = entry.mode === "160000" ? "" : await repository.read(object);
		return {
			...entry,
			content,
			sha256: createHash("sha256").update(content).digest("hex")
		};
	}));
	const { interfaces } = source;
	return {
		variant,
		commit,
		...source.kind === "folder" && { folder: source.folder },
		...interfaces !== void 0 && { interfaces },
		files
	};
}
/** Throws a `RepositoryError` for a path outside the repository. */
async function sourceOf(place, repository) {
	const { interfaces } = place;
	if ("path" in place) return {
		kind: "folder",
		folder: await repository.pathOf(place),
		interfaces
	};
	const { files, beside } = place;
	const found = Object.entries(files).map(async ([name, path]) => [name, await repository.pathOf({
		path,
		beside
	})]);
	return {
		kind: "files",
		files: new Map(await Promise.all(found)),
		interfaces
	};
}
const pathsIn = (source) => source.kind === "folder" ? [source.folder] : [...source.files.values()];
/** Files with their paths in the overlay. */
async function entriesOf(repository, commit, source) {
	if (source.kind === "folder") return repository.list(commit, source.folder);
	const found = await repository.entriesAt(commit, pathsIn(source));
	return [...source.files].flatMap(([name, path]) => found.filter((entry) => entry.path === path).map((entry) => ({
		...entry,
		path: name,
		source: path
	})));
}
/** Begins a sentence about what neither base nor patched has. */
function missingIn(overlays, source) {
	const has = (name) => overlays.some(({ files }) => files.some(({ path }) => path === name));
	if (source.kind === "files") {
		const missing = [...source.files].find(([name]) => !has(name));
		return missing && `There is no file ${missing[1]}`;
	}
	if (overlays.some(({ files }) => files.length > 0)) return void 0;
	return `The folder ${source.folder || "."} holds no file`;
}
const mostFiles = 100;
/** Mode of a submodule: a commit of another repository, whose content is not read. */
const submodule = "160000";

// src/kernel/touched.ts
/**
* Returns the place (of ppsgate.yml or the tables below) because of which a file cannot affect the testbed: a driver of
* unused ports, files of another machine. Undefined if it may: a needless measurement costs an hour, a missing one
* hides a regression.
*/
function placeLeftAlone(path, on) {
	const known = reachOf(path, on);
	return known.kind === "nothing" ? known.by : void 0;
}
/** Checks that such a place does not count on the testbed. */
function isPlaceLeftAlone(place, on) {
	const { nothing, drivers, machines } = pathsOn(on);
	return [nothing, ...[drivers, machines].flatMap(({ places }) => Object.values(places))].some((places) => places.includes(place));
}
/** Returns the cells that a changed file can affect; all cells for a file that may affect all. */
function touchedCells(changed, cells, on) {
	const reaches = changed.map((path) => reachOf(path, on));
	if (reaches.some(({ kind }) => kind === "everything")) return cells;
	return cells.filter((cell) => reaches.some((reach) => reach.kind === "cells" && reach.names.has(cell[reach.of])));
}
function reachOf(path, on) {
	const { everything, nothing, drivers, machines, byScenario, byFamily } = pathsOn(on);
	const all = { kind: "everything" };
	if (placeIn(everything, path) !== void 0) return all;
	const named = placeIn(nothing, path);
	if (named !== void 0) return {
		kind: "nothing",
		by: named
	};
	if (isOfBuild(path)) return all;
	for (const { places, ours } of [drivers, machines]) {
		const owners = Object.entries(places).filter(([, its]) => placeIn(its, path) !== void 0);
		const [[, its] = []] = owners;
		if (its === void 0) continue;
		return ours === void 0 || owners.some(([name]) => ours.has(name)) ? all : {
			kind: "nothing",
			by: placeIn(its, path) ?? path
		};
	}
	for (const [of, places] of [["scenario", byScenario], ["family", byFamily]]) {
		const names = Object.keys(places).filter((name) => placeIn(places[name] ?? [], path));
		if (names.length > 0) return {
			kind: "cells",
			of,
			names: new Set(names)
		};
	}
	return all;
}
const placeIn = (places, path) => places.find((place) => isIn(place, path));
function isIn(place, path) {
	if (!place.includes("*")) return place.endsWith("/") ? path.startsWith(place) : path === place;
	const pattern = place.split("*").map(RegExp.escape).join("[^/]*");
	return new RegExp(`^${pattern}${place.endsWith("/") ? "" : "$"}`).test(path);
}
const pf = [
	"sys/netpfil/pf/",
	"sys/net/pfvar.h",
	"sys/net/if_pf*"
];
const ipfw = [
	"sys/netpfil/ipfw/",
	"sys/netinet/ip_fw*",
	"sys/netinet6/ip_fw*"
];
const firewalls = {
	pf,
	ipfw
};
const chelsio = ["sys/dev/cxgbe/"];
/** Folders that belong to the driver of these ports only. A folder that two drivers share is listed for both. */
const freebsdDrivers = {
	...Object.fromEntries([
		"cxgbe",
		"cxl",
		"cc",
		"che",
		"cxgbev",
		"cxlv",
		"ccv"
	].map((driver) => [driver, chelsio])),
	mce: ["sys/dev/mlx5/"],
	mlxen: ["sys/dev/mlx4/"],
	ix: ["sys/dev/ixgbe/"],
	ixv: ["sys/dev/ixgbe/"],
	ixl: ["sys/dev/ixl/"],
	ixlv: ["sys/dev/ixl/", "sys/dev/iavf/"],
	iavf: ["sys/dev/ixl/", "sys/dev/iavf/"],
	ice: ["sys/dev/ice/"],
	em: ["sys/dev/e1000/"],
	igb: ["sys/dev/e1000/"],
	lem: ["sys/dev/e1000/"],
	igc: ["sys/dev/igc/"],
	bnxt: ["sys/dev/bnxt/"],
	ena: ["sys/dev/ena/"],
	vtnet: ["sys/dev/virtio/network/"],
	vmx: ["sys/dev/vmware/vmxnet3/"],
	hn: [
		"sys/dev/hyperv/",
		"sys/dev/mlx4/",
		"sys/dev/mlx5/"
	]
};
/** Folders for kernels of one machine only, by make's TARGET. 64-bit kernels use files of 32 bits, too. */
const machines = {
	amd64: [
		"sys/amd64/",
		"sys/i386/",
		"sys/x86/"
	],
	i386: ["sys/i386/", "sys/x86/"],
	arm64: ["sys/arm64/", "sys/arm/"],
	arm: ["sys/arm/"],
	powerpc: ["sys/powerpc/"],
	riscv: ["sys/riscv/"]
};
/** Paths of ppsgate.yml; FreeBSD's tables for the drivers, scenarios and families that it omits. */
function pathsOn({ config, testbed }) {
	const { paths = noPaths, rules } = config;
	const of = config.testbeds[testbed];
	if (!(of?.kind === "freebsd" || of?.kind === "virtual" && of.system === "freebsd")) return {
		...paths,
		drivers: noOwners,
		machines: noOwners
	};
	const driver = of.capabilities?.nic?.driver ?? [];
	const ports = portsOf(of).flatMap(driversOf);
	const machine = machineOf(of);
	const own = Object.entries(rules).map(([name, { firewall }]) => [name, firewalls[firewall]]);
	return {
		...paths,
		drivers: {
			places: {
				...freebsdDrivers,
				...paths.byDriver
			},
			ours: new Set(ports.concat(driver))
		},
		machines: {
			places: machines,
			...machine !== void 0 && { ours: /* @__PURE__ */ new Set([machine]) }
		},
		byScenario: {
			"pf-stateless": pf,
			"pf-stateful": pf,
			"ipfw-stateless": ipfw,
			"ipfw-stateful": ipfw,
			...Object.fromEntries(own),
			...paths.byScenario
		},
		byFamily: {
			inet4: ["sys/netinet/*.c"],
			inet6: ["sys/netinet6/*.c"],
			...paths.byFamily
		}
	};
}
/** Guests have virtio cards. */
const portsOf = (testbed) => testbed.kind === "virtual" ? ["vtnet0"] : [testbed.dut.ingress, testbed.dut.egress].map(({ interface: name }) => name);
const noPaths = {
	everything: [],
	nothing: [],
	byDriver: {},
	byScenario: {},
	byFamily: {}
};
const noOwners = { places: {} };
/** Target machine of the kernels; undefined where the configuration does not specify it. */
function machineOf({ builder }) {
	if (builder?.recipe.kind !== "make") return void 0;
	if (builder.recipe.cross !== void 0) return "amd64";
	const name = builder.recipe.options.findLast((option) => option.startsWith("TARGET="))?.slice(7);
	return name !== void 0 && Object.hasOwn(machines, name) ? name : void 0;
}

// src/kernel/variant.ts
const kernelSourceSchema = discriminatedUnion("kind", [object({
	kind: literal("tree"),
	baseCommit: commitId,
	/** Applied to the base commit; in base64, as it may hold any bytes. Absent: the base itself. */
	diff: base64().max(mostDocument).optional(),
	/** Layout variants to boot, ascending. Absent: linked once. */
	layouts: list(ordinal).min(1).optional()
}), object({
	kind: literal("archive"),
	path: path$1,
	sha256: name
})]);
const variantSchema = overlaySchema.extend({ kernel: kernelSourceSchema.optional() });
/** Kernels on FreeBSD, and on virtual machines that are given or build some; otherwise files. */
function makingOf(config, testbed, kernels) {
	const one = config.testbeds[testbed];
	if (one?.kind === "freebsd") return "kernel";
	if (one?.kind !== "virtual") return "overlay";
	return kernels === void 0 && one.builder === void 0 ? "overlay" : "kernel";
}
/**
* Creates base at the patch's merge base, patched, and earlier diffs of its revision on the same base. Throws a
* `RepositoryError` if the repository lacks a commit, and a `UsageError` for a missing or unreadable kernel.
*/
async function buildVariants({ patch, making, overlayFolder, kernels }, repository) {
	if (making === "overlay") return buildOverlays(patch, overlayFolder, repository);
	const { base, changed } = await commitsOf(patch, repository);
	if (kernels === void 0) return [{
		...base,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit: base.commit
		}
	}, ...await Promise.all(changed.map((variant) => onBase(base.commit, variant, repository)))];
	const [patched, lacking] = changed;
	if (lacking !== void 0) throw new UsageError(`Kernels are given of base and patched, and none of ${lacking.variant}: leave earlier diffs out, or let them all be built.`);
	return [{
		...base,
		files: [],
		kernel: await givenKernel(kernels.base)
	}, {
		...patched,
		files: [],
		kernel: await givenKernel(kernels.patched)
	}];
}
async function variantsByMaking({ patch, config, kernels, testbeds }, repository) {
	const built = [...new Set(testbeds.map((name) => makingOf(config, name, kernels)))].map(async (making) => {
		return [making, await buildVariants({
			patch,
			making,
			overlayFolder: config.overlay,
			kernels
		}, repository)];
	});
	const byMaking = new Map(await Promise.all(built));
	for (const name of testbeds) {
		if (makingOf(config, name, kernels) !== "overlay") continue;
		requireLoaded(byMaking.get("overlay") ?? [], {
			name,
			system: systemOf(config, name)
		});
	}
	return byMaking;
}
/** Throws a UsageError for overlays of which the testbed loads no file: comparing nothing would pass. */
function requireLoaded(variants, { name, system }) {
	const paths = variants.flatMap(({ files }) => files.map(({ path }) => path));
	if (paths.some((path) => isLoaded(system, path))) return;
	throw new UsageError(`The overlay has ${[...new Set(paths)].slice(0, mostPathsShown).join(", ")}, and ${name} loads ${overlayFiles[system].join(" and ")}: correct \`overlay\` in ppsgate.yml.`);
}
const mostPathsShown = 5;
async function onBase(baseCommit, { variant, commit }, repository) {
	const diff = (await repository.diff(baseCommit, commit)).toString("base64");
	return {
		variant,
		commit,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit,
			...diff === "" ? {} : { diff }
		}
	};
}
/** Size limit of a kernel with its modules, or of a whole image of nanobsd(8). */
const mostKernelBytes = 8 * 1024 ** 3;
/** Includes the file's current checksum. Throws a UsageError if the file cannot be read. */
async function givenKernel(path) {
	const hash = createHash("sha256");
	try {
		const stats = await stat(path);
		if (!stats.isFile()) throw new Error("it is no regular file");
		const { size } = stats;
		if (size > mostKernelBytes) throw new Error(`it has ${size} bytes, and a kernel at most ${mostKernelBytes}`);
		await pipeline(createReadStream(path), hash);
	} catch (error) {
		throw new UsageError(`The kernel ${path} cannot be read (${reasonOf(error)}).`);
	}
	return {
		kind: "archive",
		path: resolve(path),
		sha256: hash.digest("hex")
	};
}

// src/kernel/unchanged.ts
/** Returns the testbeds on which a variant may differ from base, as far as that is known before a build. */
async function testbedsThatDiffer({ testbeds, config, variants, kernels }, repository) {
	const differ = await Promise.all(testbeds.map(async (name) => {
		const [base, ...others] = variants.get(makingOf(config, name, kernels)) ?? [];
		if (base === void 0) return true;
		const on = {
			config,
			testbed: name
		};
		const each = others.map((variant) => differs(base, variant, on, repository));
		return (await Promise.all(each)).includes(true);
	}));
	return testbeds.filter((_, index) => differ[index]);
}
/** Places of changed kernel files that have no effect on testbeds without a difference; empty if no kernel differs. */
async function placesLeftAlone(testbed, { config, variants, kernels }, repository) {
	const [base, ...others] = variants.get(makingOf(config, testbed, kernels)) ?? [];
	if (base?.kernel?.kind !== "tree") return [];
	const all = others.map(async ({ commit }) => {
		return (await repository.changedPaths(base.commit, commit)).flatMap((path) => placeLeftAlone(path, {
			config,
			testbed
		}) ?? []);
	});
	return [...new Set((await Promise.all(all)).flat())].toSorted();
}
/** Undefined if the DUT boots more than a kernel, too: an image of nanobsd(8) has a userland. */
function builderOf({ testbeds }, name) {
	const testbed = testbeds[name];
	if (testbed?.kind === "virtual") return testbed.builder;
	if (testbed?.kind !== "freebsd" || testbed.dut.boot.method === "nanobsd") return void 0;
	return testbed.builder;
}
async function differs(base, variant, on, repository) {
	if (!isSameOverlay(base, variant, systemOf(on.config, on.testbed))) return true;
	if (base.kernel === void 0 || variant.kernel === void 0) return base.kernel !== variant.kernel;
	if (base.kernel.kind === "archive" || variant.kernel.kind === "archive") return sumOf(base) !== sumOf(variant);
	return (await pathsThatCount(base, variant, on, repository)).length > 0;
}
/** Paths that differ between two variants' trees, without files that cannot affect the testbed. */
async function pathsThatCount(base, variant, on, repository) {
	const paths = (await repository.changedPaths(base.commit, variant.commit)).filter((path) => placeLeftAlone(path, on) === void 0);
	const builder = builderOf(on.config, on.testbed);
	if (paths.length === 0 || builder === void 0) return paths;
	const makefile = await repository.read(`${base.commit}:Makefile.inc1`).catch(() => void 0);
	return paths.filter((path) => mayChangeKernel(path, builder, makefile));
}
/** Compares the loaded files. A submodule counts as changed, as its content is not read. */
function isSameOverlay(base, other, system) {
	const ofBase = base.files.filter(({ path }) => isLoaded(system, path));
	const others = other.files.filter(({ path }) => isLoaded(system, path));
	return ofBase.length === others.length && ofBase.every(({ path, mode, sha256 }) => {
		const same = others.find((file) => file.path === path);
		if (same === void 0 || mode === "160000") return false;
		return (same.mode === mode || isPlain$1(same.mode) && isPlain$1(mode)) && same.sha256 === sha256;
	});
}
const sumOf = ({ kernel }) => kernel?.kind === "archive" ? kernel.sha256 : void 0;

// src/kernel/kernel-sums.ts
/** Trusts only kernels that were just built. */
const noSums = {
	get: () => void 0,
	set: () => {}
};
/**
* Stores a file per kernel, until half a year after its last use. A failed write, or a file that other users may write,
* costs only a rebuild.
*/
function kernelSums(folder, now = Date.now) {
	const pathOf = (name) => join(folder, createHash("sha256").update(name).digest("hex").slice(0, 40));
	return {
		get(name) {
			try {
				const path = pathOf(name);
				checkOwn(path);
				const sha256 = readFileSync(path, "utf8").trim();
				utimesSync(path, now() / 1e3, now() / 1e3);
				return sha256;
			} catch {
				return;
			}
		},
		set(name, sha256) {
			try {
				mkdirSync(folder, {
					recursive: true,
					mode: 448
				});
				forget(folder, now() - keptMilliseconds);
				const path = pathOf(name);
				const partial = `${path}.${process.pid}`;
				writeFileSync(partial, `${sha256}\n`, { mode: 384 });
				renameSync(partial, path);
			} catch {}
		}
	};
}
const keptMilliseconds = 15552e6;
function forget(folder, before) {
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		if (statSync(path).mtimeMs < before) rmSync(path, { force: true });
	}
}
/** Below the state folder of the XDG Base Directory Specification. */
function sumsFolder({ XDG_STATE_HOME: state = "" }, home) {
	const folder = isAbsolute(state) ? state : join(home, ".local/state");
	return join(folder, "ppsgate/kernels");
}

// src/kernel/fetch-kernel.ts
/** Writes the archive atomically. Throws a BuilderError for a wrong checksum. */
async function fetchKernel(host, { archive, sha256 }, path, signal) {
	const partial = `${path}.part`;
	const file = openSync(partial, "w");
	const hash = createHash("sha256");
	try {
		const onStdout = (chunk) => {
			hash.update(chunk);
			writeWhole(file, chunk);
		};
		await host.run(shell`cat ${archive}`, {
			onStdout,
			signal
		});
		if (hash.digest("hex") !== sha256) throw new BuilderError(`${archive} on ${host.name} came with another SHA-256 than ${sha256}; check its disk, and build it again.`);
		renameSync(partial, path);
	} finally {
		closeSync(file);
		rmSync(partial, { force: true });
	}
}
function writeWhole(file, chunk) {
	for (let written = 0; written < chunk.length;) written += writeSync(file, chunk, written);
}

// src/kernel/system-commands.ts
/** EX_TEMPFAIL of sysexits(3). */
const heldByOthers = 75;
const commandsOf = {
	freebsd: {
		sha256: (path) => shell`sha256 -q ${path}`,
		cpus: shell`sysctl -n hw.ncpu`,
		rootArchive: (archive, folder) => shell`tar --zstd --uid 0 --gid 0 -cf ${archive} -C ${folder} .`,
		locked: (lock, waitSeconds, command) => shell`lockf -k -s -t ${waitSeconds} ${lock} ${command}`
	},
	linux: {
		sha256: (path) => shell`sha256sum ${path}`,
		cpus: shell`nproc`,
		rootArchive: (archive, folder) => shell`tar --zstd --owner=0 --group=0 --numeric-owner -cf ${archive} -C ${folder} .`,
		locked: (lock, waitSeconds, command) => shell`flock -w ${waitSeconds} -E ${75} ${lock} ${command}`
	}
};
const sumIn = (written) => /^[0-9a-f]{64}(?=\s|$)/.exec(written)?.[0] ?? "";

// src/kernel/build-slot.ts
/**
* lockf(1) or flock(1) holds the lock as long as its connection lives. Throws a BuilderError if the lock stays busy.
*/
async function inTurn(host, turn, work) {
	const stdin = new PassThrough();
	const holding = hold(host, turn, stdin);
	try {
		await Promise.race([holding.held, holding.ended]);
		return await work();
	} finally {
		stdin.end("done\n");
		await holding.ended.catch(() => {});
	}
}
function hold(host, turn, stdin) {
	const { system, lock, owner, waitSeconds, signal } = turn;
	const held = Promise.withResolvers();
	const waiting = new AbortController();
	const give = () => waiting.abort(signal.reason);
	signal.addEventListener("abort", give, { once: true });
	if (signal.aborted) give();
	const holding = shell`sh -c ${holdScript} hold ${lock}.owner ${owner}`;
	const ended = host.run(commandsOf[system].locked(lock, Math.ceil(waitSeconds), holding), {
		stdin,
		signal: waiting.signal,
		onStdout: () => {
			signal.removeEventListener("abort", give);
			held.resolve();
		}
	}).then(async (outcome) => {
		if (outcome.kind === "exited" && outcome.code === 0) return;
		throw await whyNot(host, turn, outcome.kind === "exited" ? outcome.code : -1, outcome.stderr);
	});
	ended.catch(() => {});
	return {
		held: held.promise,
		ended
	};
}
/**
* A connection that ends without that line may leave a build that is still being stopped. So the lock outlives it
* longer than a guarded command does.
*/
const holdScript = `
printf '%s\\n' "$2" >"$1"
echo held
read -r word || sleep 15
`;
async function whyNot(host, { lock, waitSeconds }, code, stderr) {
	if (code !== 75) return new BuilderError(`${host.name} cannot lock ${lock}: it exited with ${code} ("${reasonOf(stderr)}"); check that the folder can be written.`);
	const owner = await host.run(shell`cat ${lock}.owner`, { timeoutSeconds: 20 });
	return new BuilderError(`Another build on ${host.name} did not end within ${Math.round(waitSeconds / 60)} min (${reasonOf(owner.stdout) || "it left no name"}); wait for it, or allow more time for a turn.`);
}

// src/kernel/kernel-cache.ts
const noteSchema = object({
	schemaVersion: literal(1),
	sha256: name,
	bytes: total,
	unpackedBytes: total,
	seconds,
	uname: line.optional()
});
function kernelCache(host, folder, system) {
	const archive = (key) => `${folder}/${key}${archiveEnding}`;
	const note = (key) => `${folder}/${key}${noteEnding}`;
	return {
		archive,
		async find(key, signal) {
			const written = parseNote(await textOf(host, shell`cat ${note(key)}`, signal));
			if (written === void 0) return void 0;
			const sha256 = await textOf(host, commandsOf[system].sha256(archive(key)), signal);
			if (sumIn(sha256) !== written.sha256) return void 0;
			await host.run(shell`touch ${note(key)}`, { signal });
			return written;
		},
		async keep(key, built, content) {
			await host.output(shell`mv -f ${built} ${archive(key)}`);
			const text = JSON.stringify({
				schemaVersion: 1,
				...content
			});
			await host.upload(Buffer.from(`${text}\n`), note(key), 420);
		},
		async prune(own, bounds) {
			const names = (await host.output(shell`ls -1t ${folder}`)).split("\n").filter(Boolean);
			const kept = keptNames(own, names, parseSizes(await host.output(shell`du -a -k ${folder}`), folder), bounds);
			const rubbish = names.filter((name) => !kept.has(name));
			for (const name of rubbish) await host.output(shell`rm -f ${`${folder}/${name}`}`);
		}
	};
}
const archiveEnding = ".tar.zst";
const noteEnding = ".json";
async function textOf(host, command, signal) {
	const outcome = await host.run(command, { signal });
	return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout : "";
}
function parseNote(text) {
	try {
		const { schemaVersion: _, ...note } = noteSchema.parse(JSON.parse(text));
		return note;
	} catch {
		return;
	}
}
/** Parses sizes by file name from `du -a -k`: kilobytes, a tab, the path. */
function parseSizes(text, folder) {
	const sizes = /* @__PURE__ */ new Map();
	for (const line of text.split("\n")) {
		const [kilobytes, path] = line.split("	");
		if (path?.startsWith(`${folder}/`)) sizes.set(path.slice(folder.length + 1), Number(kilobytes) * 1024);
	}
	return sizes;
}
/** `names` are sorted by last use, most recent first. */
function keptNames(own, names, sizes, { mostKernels, mostBytes }) {
	const keys = names.filter((name) => name.endsWith(noteEnding)).map((name) => name.slice(0, -5));
	const kept = /* @__PURE__ */ new Set();
	let kernels = 0;
	let bytes = 0;
	for (const each of own.union(new Set(keys))) {
		const size = sizes.get(each + archiveEnding);
		if (size === void 0) continue;
		kernels += 1;
		bytes += size;
		if (!own.has(each) && (kernels > mostKernels || bytes > mostBytes)) break;
		kept.add(each + archiveEnding).add(each + noteEnding);
	}
	return kept;
}

// src/kernel/build-log.ts
/**
* Recognizes errors of compilers, linkers, configuration and make on both systems; otherwise returns the last lines.
*/
function readBuildFailure(log, source) {
	const lines = log.split("\n").map((line) => fromTop(plain(line), source));
	if (lines.some((line) => line.includes("No space left on device"))) return { kind: "out-of-disk" };
	const errors = [ofTools, ofMake].map((patterns) => lines.filter((line) => patterns.some((pattern) => pattern.test(line)))).find((errors) => errors.length > 0) ?? lines.filter((line) => line !== "").slice(-3);
	return {
		kind: "errors",
		errors: [...new Set(errors)].slice(0, mostErrors)
	};
}
/** An object folder contains the tree's path, as in `/b/obj/b/src/amd64.amd64`. */
const fromTop = (line, source) => line.replaceAll(`${source}/`, (found, at) => at > 0 && /[\w.+-]/.test(line.charAt(at - 1)) ? found : "");
const mostErrors = 10;
const mostLetters = 300;
function plain(line) {
	if (line === "") return line;
	const text = withoutSequences(line).replace(/[\p{Cc}\s]+/gu, " ").trim();
	return text.length > mostLetters ? `${text.slice(0, 299)}…` : text;
}
const ofTools = [
	/^\S+:\d+:\d+: (?:fatal )?error: /,
	/^(?:\S*\/)?(?:[\w.]*ld(?:\.\w+)?|cc1?|gcc|clang|\S+-ld): (?:fatal )?error: /,
	/^\S+:\d+: Error: /,
	/: (?:undefined reference to|multiple definition of) /,
	/^config: /,
	/^(?:\S*\/)?Kconfig[\w.-]*:\d+: /
];
const ofMake = [
	/^\S*make(?:\[\d+\])?: (?:"[^"]*" line \d+: |don't know how to make )/i,
	/^\*\*\* /,
	/^(?:\*\*\* )?ERROR: /i,
	/^(?:\S*make(?:\[\d+\])?|\S+:\d+): \*\*\* (?!Waiting for )/
];

// src/kernel/guard.ts
/**
* Returns after all processes of the command have ended. Throws the signal's reason after an abort, and a HostError for
* a lost connection. The builder ends the command in that case, too.
*/
async function runGuarded(host, command, { limitSeconds, signal, onLine }) {
	signal.throwIfAborted();
	const stdin = new PassThrough();
	const cancel = () => stdin.end();
	signal.addEventListener("abort", cancel, { once: true });
	const log = collectLines(onLine);
	try {
		const outcome = await host.run(shell`sh -c ${guardScript} guard ${limitSeconds} ${command}`, {
			stdin,
			onStdout: log.take,
			timeoutSeconds: limitSeconds + killSeconds + 60
		});
		signal.throwIfAborted();
		const code = outcome.kind === "exited" ? outcome.code : signaled;
		return timedOut.includes(code) ? {
			kind: "timed-out",
			log: log.end()
		} : {
			kind: "exited",
			code,
			log: log.end()
		};
	} finally {
		signal.removeEventListener("abort", cancel);
		stdin.end();
	}
}
const killSeconds = 10;
/** A shell adds this to a signal's number. */
const signaled = 128;
/** Exit codes of timeout(1) for a command that timed out, or had to be killed. */
const timedOut = [124, 137];
/**
* timeout(1) passes SIGTERM on and kills the rest. On FreeBSD it reaps all descendants, also jobs of make(1) with
* process groups of their own. Until it is ready it would obey the signal itself and leave the command running, so the
* script waits first.
*/
const guardScript = `
limit=$1
shift
exec 3<&0
timeout -k ${killSeconds} "$limit" "$@" </dev/null 3<&- 2>&1 &
command=$!
{ read -r _; sleep 1; kill -TERM "$command"; } <&3 >/dev/null 2>&1 &
watch=$!
wait "$command"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;
const mostLogLetters = 32 * 1024 ** 2;
const mostLineLetters = 65536;
function collectLines(onLine) {
	const decoder = new TextDecoder();
	let log = "";
	let line = "";
	const give = (text) => {
		onLine(text);
		if (log.length < mostLogLetters) log += `${text}\n`;
	};
	const split = (text) => {
		const lines = (line + text).split("\n");
		line = lines.pop() ?? "";
		for (const each of lines) give(each);
		if (line.length > mostLineLetters) line = line.slice(0, mostLineLetters);
	};
	return {
		take: (chunk) => split(decoder.decode(chunk, { stream: true })),
		end: () => {
			split(decoder.decode());
			if (line !== "") give(line);
			return log;
		}
	};
}

// src/kernel/build-step.ts
/** Shortens paths in errors to those below `source`. The log begins with `heading`. */
function stepsOf(host, place, source, guard, heading = "") {
	let log = heading;
	return {
		get log() {
			return log;
		},
		async run(command) {
			const done = await runGuarded(host, inJail(place, command), guard);
			log += done.log;
			if (done.kind === "timed-out") {
				const error = `The build did not end within ${guard.limitSeconds} s.`;
				return {
					kind: "build-failed",
					log,
					errors: [error]
				};
			}
			if (done.code === 0) return void 0;
			const failure = readBuildFailure(done.log, source);
			return failure.kind === "out-of-disk" ? {
				kind: "out-of-disk",
				log
			} : {
				kind: "build-failed",
				log,
				errors: failure.errors
			};
		}
	};
}
const cleanEnvironment = shell`env -i PATH="$PATH" HOME="$HOME" LC_ALL=C`;
/** Reads as the user who wrote the file: a link could lead to a file that only root may read. */
async function take(host, place, archive, output) {
	await host.output(shell`${inJail(place, shell`cat ${archive}`)} > ${output}`);
}

// src/kernel/kernel-tree.ts
/** Writes only objects to the repository. Throws a BuilderError if the base is missing and cannot be fetched. */
async function kernelTree(host, { baseCommit, diff }, { repository, remote, work, signal }) {
	const checked = diff === void 0 ? void 0 : checkDiff(diff);
	if (checked?.kind === "refused") return {
		kind: "does-not-apply",
		reason: checked.reason
	};
	await fetchIfMissing(host, repository, remote, baseCommit, signal);
	if (diff === void 0 || checked === void 0) return {
		kind: "tree",
		id: (await host.output(gitIn(repository, shell`rev-parse ${`${baseCommit}^{tree}`}`), { signal })).trim()
	};
	const diffPath = `${work}/patch.diff`;
	const indexed = (command) => shell`env GIT_INDEX_FILE=${`${work}/index`} ${gitIn(repository, command)}`;
	await host.upload(diff, diffPath, 420, { signal });
	await host.output(indexed(shell`read-tree ${baseCommit}`), { signal });
	const applied = await host.run(indexed(shell`apply --cached --whitespace=nowarn ${diffPath}`), { signal });
	if (applied.kind !== "exited" || applied.code !== 0) return {
		kind: "does-not-apply",
		reason: whyGitRefuses(applied.stderr, checked.remarks)
	};
	const changed = await host.output(indexed(shell`${rawChanges} ${baseCommit}`), { signal });
	const asSaid = isAsSaid(checked.paths, changed);
	if (asSaid.kind === "refused") return {
		kind: "does-not-apply",
		reason: asSaid.reason
	};
	return {
		kind: "tree",
		id: (await host.output(indexed(shell`write-tree`), { signal })).trim(),
		diffPath
	};
}
/** Runs git without those user settings that could change its result or run a program. */
const gitIn = (folder, command) => shell`env LC_ALL=C git -C ${folder} ${settings} ${command}`;
const settings = [
	"safe.directory=*",
	"core.hooksPath=/dev/null",
	"core.autocrlf=false",
	"apply.ignoreWhitespace=no",
	"gc.auto=0"
].flatMap((setting) => ["-c", setting]);
async function fetchIfMissing(host, repository, remote, commit, signal) {
	const has = gitIn(repository, shell`cat-file -e ${`${commit}^{commit}`}`);
	if (await succeeds(host, has, signal)) return;
	const fetch = gitIn(repository, shell`fetch ${objectsAlone} --end-of-options ${remote} ${commit}`);
	const fetched = await host.run(fetch, {
		signal,
		timeoutSeconds: fetchSeconds
	});
	if (await succeeds(host, has, signal)) return;
	throw new BuilderError(`${repository} on ${host.name} lacks the commit ${commit} and cannot fetch it from ${remote} (${lastLine(fetched.stderr) ?? "git said nothing"}); check the clone and its remote.`);
}
const fetchSeconds = 1800;
async function succeeds(host, command, signal) {
	const outcome = await host.run(command, { signal });
	return outcome.kind === "exited" && outcome.code === 0;
}

// src/kernel/build-tree.ts
/**
* Builds in a folder with sources in `src`. The build may write to `obj` and `stage` and, with `mayReuse`, use objects
* of earlier builds. Old objects can cause a failure, so only a build without them blames the patch.
*/
async function inTree(host, { clean }, request, build) {
	const tree = `${request.folder}/tree`;
	let isGood = false;
	try {
		const isNew = await layTree(host, clean, request, tree);
		const { cooked, isOfOld } = await build(tree, true);
		isGood = cooked.kind === "built";
		if (isGood || isNew && !isOfOld || cooked.kind === "out-of-disk") return cooked;
		await removeTree(host, request.repository, tree);
		await layTree(host, clean, request, tree);
		const again = await build(tree, false);
		isGood = again.cooked.kind === "built";
		return again.cooked;
	} finally {
		if (clean || !isGood) await removeTree(host, request.repository, tree);
		else await host.run(shell`rm -rf ${`${tree}/stage`}`);
	}
}
/**
* Writes only files that differ from the previous tree, as make(1) compares times. Returns whether the folder was
* empty.
*/
async function layTree(host, clean, { repository, baseCommit, tree: id, tools }, tree) {
	const source = `${tree}/src`;
	const stamp = await host.run(shell`cat ${`${tree}/tools`}`);
	const checkOut = gitIn(source, shell`read-tree --reset -u ${id}`);
	if (!clean && stamp.stdout === tools) {
		const head = gitIn(source, shell`update-ref --no-deref HEAD ${baseCommit}`);
		const reset = await host.run(shell`${head} && ${checkOut} && ${gitIn(source, shell`clean -ffdxq`)} && rm -rf ${`${tree}/stage`}`);
		if (reset.kind === "exited" && reset.code === 0) return false;
	}
	await removeTree(host, repository, tree);
	await host.output(shell`mkdir -p ${`${tree}/obj`}`);
	const add = shell`worktree add --quiet --detach --no-checkout ${source} ${baseCommit}`;
	await host.output(gitIn(repository, add));
	await host.output(checkOut);
	await host.upload(Buffer.from(tools), `${tree}/tools`, 420);
	return true;
}
async function removeTree(host, repository, tree) {
	await host.run(shell`rm -rf ${tree}`);
	await host.run(gitIn(repository, shell`worktree prune`));
}

// src/kernel/kept-toolchain.ts
/**
* Returns the folder of this toolchain's objects. Undefined without a jail, as a patch's build could change them, and
* for builds that are not clean, which keep their own objects.
*/
async function keptToolchain(host, recipe, request) {
	const { repository, folder, jail, tree, tools } = request;
	if (jail === void 0 || !recipe.clean || !recipe.toolchain) return void 0;
	const list = (path) => host.output(gitIn(repository, shell`ls-tree ${tree} -- ${path}`));
	const [top, sys, assembler] = await Promise.all([
		host.output(gitIn(repository, shell`ls-tree ${tree}`)),
		list("sys/"),
		list("sys/dev/aic7xxx/")
	]);
	const sources = [
		...top.split("\n").filter((line) => !line.endsWith("	sys")),
		...sys.split("\n").filter((line) => !kernelAlone.test(line)),
		assembler
	];
	const { kernelConfig, metaMode, options } = recipe;
	const parts = [
		sources,
		tools,
		jail,
		kernelConfig,
		metaMode,
		options
	];
	return `${folder}/toolchains/${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
/** Folders that contribute to no program of the build; all others count. */
const kernelAlone = /\tsys\/(?:dev|net|netgraph|netinet|netinet6|netipsec|netlink|netpfil)$/;
/** Returns false if none is cached. The jail's user still owns the files, but cannot enter the folder around them. */
async function layToolchain(host, kept, objects) {
	const installed = await host.run(shell`test -d ${kept} && rm -rf ${objects} && cp -a ${kept} ${objects}`);
	return installed.kind === "exited" && installed.code === 0;
}
/** Caches only the toolchain of a base, as a patch may have changed its makefiles. Atomic. */
async function keepToolchain(host, { folder }, kept, objects) {
	const around = `${folder}/toolchains`;
	const partial = `${around}/partial`;
	await host.run(shell`mkdir -p ${around} && chmod 700 ${around} && rm -rf ${partial} && cp -a ${objects} ${partial} && rm -rf ${kept} && mv ${partial} ${kept} && touch ${kept}`);
	const rubbish = (await host.run(shell`ls -1t ${around}`)).stdout.split("\n").filter(Boolean).filter((name) => name !== "partial").slice(mostKept);
	for (const name of ["partial", ...rubbish]) await host.run(shell`rm -rf ${`${around}/${name}`}`);
}
/** Few: one with a compiler needs several gigabytes. */
const mostKept = 2;

// src/kernel/kernel-recipe-linux.ts
/** Packs `boot/vmlinuz-RELEASE`, its System.map and config, and `lib/modules/RELEASE` for depmod(8). */
function cookLinux(host, recipe, request, guard) {
	return inTree(host, recipe, request, async (tree) => {
		return {
			cooked: await makeKernel$1(host, recipe, request, tree, guard),
			isOfOld: false
		};
	});
}
async function makeKernel$1(host, recipe, request, tree, guard) {
	const jobs = recipe.jobs ?? Number(await host.output(commandsOf.linux.cpus));
	const [objects, stage] = [`${tree}/obj`, `${tree}/stage`];
	for (const path of [objects, stage]) await host.output(buildFolder(request, path));
	const config = `${tree}/config`;
	await host.upload(Buffer.from(recipe.kernelConfig + nameless), config, 420);
	const steps = stepsOf(host, request, `${tree}/src`, guard);
	const modules = [
		`INSTALL_MOD_PATH=${stage}/root`,
		"INSTALL_MOD_STRIP=1",
		"DEPMOD=true"
	];
	for (const [heading, command] of [
		["configuration", shell`cp ${config} ${`${objects}/.config`}`],
		["make olddefconfig", make(recipe, tree, 1, ["olddefconfig"])],
		["make bzImage modules", make(recipe, tree, jobs, ["bzImage", "modules"])],
		["make modules_install", make(recipe, tree, 1, [...modules, "modules_install"])],
		["archive", shell`sh -c ${packScript} pack ${objects} ${stage}`]
	]) {
		guard.onLine(`>>> ${heading}`);
		const failed = await steps.run(command);
		if (failed !== void 0) return failed;
	}
	for (const { output } of request.layouts) await take(host, request, `${stage}/packed`, output);
	return {
		kind: "built",
		log: steps.log,
		uname: void 0
	};
}
/** A commit in the release would give each variant its own folders, and equal kernels different bytes. */
const nameless = "\n# CONFIG_LOCALVERSION_AUTO is not set\n";
/** Pins the builder, time and build number that a kernel contains. The last option wins, over the site's. */
const make = ({ options }, tree, jobs, words) => shell`${cleanEnvironment} make -C ${`${tree}/src`} -j ${jobs} ${[
	...options,
	`O=${tree}/obj`,
	"KBUILD_BUILD_TIMESTAMP=Thu Jan 1 00:00:00 UTC 1970",
	"KBUILD_BUILD_USER=ppsgate",
	"KBUILD_BUILD_HOST=ppsgate",
	"KBUILD_BUILD_VERSION=1",
	"LOCALVERSION=",
	...words
]}`;
/** The links `build` and `source` lead to folders of the builder. */
const packScript = `
set -e
objects=$1
stage=$2
release=$(cat "$objects/include/config/kernel.release")
mkdir -p "$stage/root/boot"
cd "$stage/root"
cp "$objects/arch/x86/boot/bzImage" "boot/vmlinuz-$release"
cp "$objects/System.map" "boot/System.map-$release"
cp "$objects/.config" "boot/config-$release"
rm -f "lib/modules/$release/build" "lib/modules/$release/source"
rm -rf "$stage/packed"
tar --zstd --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$stage/packed" .
`;

// src/kernel/kernel-recipe.ts
/** Requires the build slot: all builds use the same folders, as kernels contain the folders' names. */
function cook(host, config, request, guard) {
	const { recipe, system, repository, folder, jail } = config;
	const inHouse = {
		...request,
		system,
		repository,
		folder,
		...jail !== void 0 && { jail }
	};
	switch (recipe.kind) {
		case "make": return cookByMake(host, recipe, inHouse, guard);
		case "linux": return cookLinux(host, recipe, inHouse, guard);
		case "command": return cookByCommand(host, recipe, inHouse, guard);
	}
}
async function cookByMake(host, recipe, request, guard) {
	await requireFilemon(host, recipe);
	const kept = await keptToolchain(host, recipe, request);
	return inTree(host, recipe, request, async (tree, mayReuse) => {
		const isKept = mayReuse && kept !== void 0 && await layToolchain(host, kept, `${tree}/obj`);
		return {
			cooked: await makeKernel(host, recipe, {
				...request,
				kept,
				isKept
			}, tree, guard),
			isOfOld: isKept
		};
	});
}
async function requireFilemon(host, { metaMode }) {
	if (!metaMode) return;
	const outcome = await host.run(shell`kldstat -q -m filemon`);
	if (outcome.kind === "exited" && outcome.code === 0) return;
	throw new BuilderError(`${host.name} has no filemon(4) loaded, which meta mode needs; run "kldload filemon" there, or set \`metaMode: false\`.`);
}
async function makeKernel(host, recipe, request, tree, guard) {
	const { sha256, cpus, rootArchive } = commandsOf[request.system];
	const jobs = recipe.jobs ?? Number(await host.output(cpus));
	const stage = `${tree}/stage`;
	const ofTests = recipe.cross === void 0 ? [] : [`${tree}/src/${bmakeTests}`];
	for (const path of [
		`${tree}/obj`,
		stage,
		...ofTests
	]) await host.output(buildFolder(request, path));
	const install = [`DESTDIR=${stage}`, ...[
		"NO_ROOT",
		"DB_FROM_SRC",
		"WITHOUT_KERNEL_SYMBOLS"
	].map((name) => `-D${name}`)];
	const { kept, isKept, diffPath } = request;
	const make = await makeFor(host, recipe, tree);
	const heading = isKept ? "The kernel-toolchain is the one of an earlier base, of the same sources.\n" : "";
	const steps = stepsOf(host, request, `${tree}/src`, guard, heading);
	if (recipe.toolchain && !isKept) {
		const failed = await steps.run(make(jobs, "kernel-toolchain"));
		if (failed !== void 0) return failed;
		if (diffPath === void 0 && kept !== void 0) await keepToolchain(host, request, kept, `${tree}/obj`);
	}
	const failed = await steps.run(make(jobs, "buildkernel"));
	if (failed !== void 0) return failed;
	const kernel = `${stage}/boot/kernel`;
	const kernelsSeen = [];
	for (const [index, { number, output }] of request.layouts.entries()) {
		if (number !== 1) {
			await removeLinked(host, recipe, request, tree);
			const notLinked = await steps.run(linkAgain(make, jobs, number));
			if (notLinked?.kind === "out-of-disk") return notLinked;
			requireLinked(notLinked, host, recipe);
		}
		if (index > 0) await host.output(inJail(request, shell`rm -rf ${`${stage}/boot`}`));
		const notInstalled = await steps.run(make(1, "installkernel", install));
		if (notInstalled !== void 0) return notInstalled;
		kernelsSeen.push(await host.output(inJail(request, sha256(`${kernel}/kernel`))));
		const packed = `${stage}/packed`;
		if (recipe.cross !== void 0) {
			const unloadable = await whyNotLoadable(host, request, kernel);
			if (unloadable.length > 0) return {
				kind: "build-failed",
				log: steps.log,
				errors: unloadable
			};
		}
		await host.output(inJail(request, rootArchive(packed, kernel)));
		await take(host, request, packed, output);
	}
	requireDistinct(kernelsSeen, host, recipe);
	if (request.layouts.some(({ number }) => number !== 1)) await removeLinked(host, recipe, request, tree);
	const uname = await unameOf(host, request, `${kernel}/kernel`);
	return {
		kind: "built",
		log: steps.log,
		uname
	};
}
/**
* Links a kernel again from its objects. sys.mk passes LDFLAGS to ld(1) without `-Wl,`, and KERNFAST of build(7) skips
* configuration and cleaning. Only code is reordered. Linker sets, such as those of SYSINIT(9), keep their order. So do
* modules: they are linked with -r, for which ld.lld keeps the order.
*/
const linkAgain = (make, jobs, seed) => make(jobs, "buildkernel", ["-DKERNFAST", "-DNO_MODULES"], [`LDFLAGS=-Wl,--shuffle-sections=.text*=${seed}`]);
/** Removes files that make(1) would consider already linked. */
async function removeLinked(host, { kernelConfig }, request, tree) {
	const where = [
		"-type",
		"f",
		"-path",
		`*/sys/${kernelConfig}/kernel*`
	];
	const names = [
		"(",
		"-name",
		"kernel",
		"-o",
		"-name",
		"kernel.full",
		")"
	];
	await host.output(inJail(request, shell`find ${`${tree}/obj`} ${[...where, ...names]} -delete`));
}
/** The kernel was linked once before, so the patch is not to blame for a failure. */
function requireLinked(failed, host, recipe) {
	if (failed === void 0) return;
	const why = failed.kind === "build-failed" ? failed.errors.join("; ") : failed.kind;
	throw new BuilderError(`A kernel could not be linked again on ${host.name} (${why}); ${fixing[recipe.kind]}, or set \`layoutVariants: 1\`.`);
}
function requireDistinct(kernels, host, recipe) {
	if (new Set(kernels).size === kernels.length) return;
	throw new BuilderError(`A kernel that was linked again on ${host.name} came out as it was before; ${fixing[recipe.kind]}, or set \`layoutVariants: 1\`.`);
}
const fixing = {
	make: "let the tree be linked by ld.lld of LLVM 13 or newer",
	command: "let the command link in another order for each $LINK"
};
/**
* Switches: build(7), src.conf(5) and Makefile.inc1. NO_ROOT lets any user install. MAKEOBJDIRPREFIX counts only in the
* environment. Excludes the builder's make.conf, src.conf and modules of ports, so that ppsgate.yml alone defines a
* build.
*/
async function makeFor(host, recipe, tree) {
	const { kernelConfig, kernelConfigFolder, clean, metaMode, options, cross } = recipe;
	const program = cross === void 0 ? shell`make -C ${`${tree}/src`}` : crossMake(`${tree}/src`, await crossToolsOf(host, cross));
	return (jobs, target, more = [], environment = []) => {
		const words = [
			...[
				"__MAKE_CONF",
				"SRCCONF",
				"SRC_ENV_CONF"
			].map((name) => `${name}=/dev/null`),
			"LOCAL_MODULES=",
			"-DWITH_REPRODUCIBLE_BUILD",
			`KERNCONF=${kernelConfig}`,
			...kernelConfigFolder === void 0 ? [] : [`KERNCONFDIR=${kernelConfigFolder}`],
			...clean && cross === void 0 ? [] : ["-DNO_CLEAN"],
			...metaMode ? ["-DWITH_META_MODE"] : [],
			...options,
			...more,
			target
		];
		const variables = [`MAKEOBJDIRPREFIX=${tree}/obj`, ...environment];
		return shell`${cleanEnvironment} ${variables} ${program} -j ${jobs} ${words}`;
	};
}
/** what(1) finds the version from newvers.sh in the kernel. Some kernels have none. */
async function unameOf(host, request, kernel) {
	const outcome = await host.run(inJail(request, shell`what -q -s ${kernel}`));
	const [line = ""] = outcome.stdout.trim().split("\n");
	return outcome.kind === "exited" && outcome.code === 0 && line !== "" ? line : void 0;
}
async function cookByCommand(host, recipe, request, guard) {
	const { work, folder, system } = request;
	const written = `${work}/out/kernel`;
	await host.output(buildFolder(request, `${work}/out`));
	const steps = stepsOf(host, request, folder, guard);
	const archives = [];
	for (const [index, { number, output }] of request.layouts.entries()) {
		await host.run(inJail(request, shell`rm -f ${written}`));
		const command = shell`${cleanEnvironment} ${variablesOf(recipe, request, number, written)} ${recipe.argv}`;
		const failed = await steps.run(command);
		if (failed?.kind === "out-of-disk") return failed;
		if (index > 0) requireLinked(failed, host, recipe);
		if (failed !== void 0) return failed;
		const isThere = await host.run(inJail(request, shell`test -s ${written}`));
		if (isThere.kind !== "exited" || isThere.code !== 0) throw new BuilderError(`"${recipe.argv[0]}" on ${host.name} succeeded without a kernel at $OUTPUT; let it write a tar archive of the kernel and its modules there.`);
		await take(host, request, written, output);
		archives.push(await host.output(commandsOf[system].sha256(output)));
	}
	requireDistinct(archives, host, recipe);
	return {
		kind: "built",
		log: steps.log,
		uname: void 0
	};
}
const variablesOf = ({ kernelConfig }, { baseCommit, diffPath }, layout, output) => [
	`BASE_COMMIT=${baseCommit}`,
	`DIFF=${diffPath ?? ""}`,
	`KERNCONF=${kernelConfig}`,
	`LAYOUT=${layout}`,
	`OUTPUT=${output}`
];

// src/kernel/needed-modules.ts
/**
* Adds MODULES_OVERRIDE for the modules that the DUT has loaded, and those for measuring. Changes nothing unless both
* are certain: a kernel without a needed module may hang before a login is possible.
*/
async function withNeededModules(host, { recipe, repository }, tree, loaded, notify) {
	if (recipe.kind !== "make" || recipe.modules === "all") return recipe;
	const choice = loaded === void 0 ? {
		kind: "all",
		why: "it is not known what the DUT has loaded"
	} : choose(await treeOfModules(host, repository, tree), loaded);
	if (choice.kind === "all") {
		notify(`all modules are built: ${choice.why}`);
		return recipe;
	}
	notify(`only these modules are built: ${choice.folders.join(" ")}`);
	return {
		...recipe,
		options: [...recipe.options, `MODULES_OVERRIDE=${choice.folders.join(" ")}`]
	};
}
/** Explains why a kernel of this recipe would not find its root; undefined if it would. */
function whyNoRoot(recipe, loaded) {
	if (recipe.kind !== "make" || !loaded.isRootOnZfs || !loaded.names.includes("zfs")) return;
	const without = recipe.options.find((option) => {
		const [, name, value = ""] = /^(?:-D)?(\w+)(?:=(.*))?$/s.exec(option) ?? [];
		const folders = value.split(/\s+/);
		if (name === "MODULES_OVERRIDE") return !folders.includes("zfs");
		return name === "NO_MODULES" || name === "WITHOUT_MODULES" && folders.includes("zfs");
	});
	return without && `the root of the DUT is on ZFS, and \`${without}\` leaves zfs.ko out`;
}
async function treeOfModules(host, repository, tree) {
	const names = shell`grep -E ${"^KMOD[[:space:]]*[?]?="} ${tree} -- sys/modules`;
	const version = shell`grep -h -E ${"^REVISION="} ${tree} -- sys/conf/newvers.sh`;
	const [kmods, revision] = await Promise.all([names, version].map(async (command) => (await host.run(gitIn(repository, command))).stdout));
	const folders = /* @__PURE__ */ new Map();
	for (const line of (kmods ?? "").split("\n")) {
		const [, folder = "", name = ""] = /:sys\/modules\/([\w-]+)\/[^:]*:KMOD\s*\??=\s*([\w-]+)\s*$/.exec(line) ?? [];
		if (name !== "") folders.set(name, (folders.get(name) ?? /* @__PURE__ */ new Set()).add(folder));
	}
	return {
		major: /^REVISION="(\d+)/.exec(revision ?? "")?.[1],
		folders
	};
}
/** Loaded by a gate, or by a site's own rules of pf and ipfw, if the tree has them. */
const measuring = [
	"pf",
	"pflog",
	"pfsync",
	"ipfw",
	"ipfw_nat",
	"libalias",
	"dummynet",
	"hwpmc",
	"ksyms"
];
/** Dependencies of zfs.ko in all releases. */
const ofZfs = [
	"opensolaris",
	"acl_nfs4",
	"crypto",
	"cryptodev",
	"krpc",
	"xdr",
	"zlib"
];
/** kldstat(8) omits firmware that drivers load briefly. It is in the driver's folder, or in one of these. */
const ofFirmware = (folder) => [
	`${folder}fw`,
	`${folder}_fw`,
	`${folder}_ddp`
];
function choose({ major, folders }, loaded) {
	const { names, release, isRootOnZfs } = loaded;
	if (major === void 0 || Number.parseInt(release, 10) !== Number(major)) return {
		kind: "all",
		why: `the DUT runs FreeBSD ${release}, and the tree is of FreeBSD ${major ?? "?"}, whose modules may need others`
	};
	if (isRootOnZfs && !names.includes("zfs")) return {
		kind: "all",
		why: "the DUT's own kernel has ZFS in itself, and another may not"
	};
	const unknown = names.find((name) => folders.get(name)?.size !== 1);
	if (unknown !== void 0) return {
		kind: "all",
		why: `it is not known where in the tree ${unknown}.ko is made`
	};
	const selected = [...measuring, ...names.includes("zfs") ? ofZfs : []];
	const chosen = new Set([...names, ...selected.filter((name) => folders.get(name)?.size === 1)].flatMap((name) => [...folders.get(name) ?? []]));
	const all = new Set([...folders.values()].flatMap((each) => [...each]));
	const firmware = [...chosen].flatMap(ofFirmware).filter((folder) => all.has(folder));
	return {
		kind: "some",
		folders: [...chosen.union(new Set(firmware))].toSorted()
	};
}

// src/kernel/kernel.ts
/**
* Returns faults of the patch as an outcome. Throws a BuilderError or a HostError for faults of the builder. Leaves
* only the cache on the builder and, if builds are not clean, the tree and objects of the last good one. A later build
* removes leftovers of a lost connection.
*/
async function buildKernel(host, written, request, options) {
	if (request.kind === "archive") return prebuilt(host, written.system, request, options.signal);
	const { system, folder, repository, remote } = written;
	const { signal, onProgress } = options;
	const { loaded } = request;
	const noRoot = loaded && whyNoRoot(written.recipe, loaded);
	if (noRoot !== void 0) throw new BuilderError(`No kernel is built: ${noRoot}; name zfs in it, or leave it out.`);
	const work = `${folder}/builds/${randomUUID()}`;
	signal.throwIfAborted();
	await host.output(shell`mkdir -p ${`${folder}/cache`} ${work}`, { timeoutSeconds: 60 });
	try {
		const tree = await kernelTree(host, request, {
			repository,
			remote,
			work,
			signal
		});
		if (tree.kind === "does-not-apply") return tree;
		const recipe = await withNeededModules(host, written, tree.id, loaded, onProgress);
		const config = {
			...written,
			recipe
		};
		const tools = await toolsOf(host, config, signal);
		const key = await keyOf(host, config, tree.id, tools, signal);
		const cache = kernelCache(host, `${folder}/cache`, system);
		const sumName = (layout) => `${config.host ?? ""}:${config.port}${folder} ${layout.key}`;
		const layouts = (request.layouts ?? [1]).map((number) => {
			return {
				number,
				key: keyOfLayout(key, number),
				output: `${work}/kernel-${number}`
			};
		});
		const build = {
			key,
			cache,
			remember: (layout, sha256) => options.sums.set(sumName(layout), sha256),
			isTrusted: (layout, { sha256 }) => config.jail !== void 0 || options.sums.get(sumName(layout)) === sha256,
			recipe: {
				baseCommit: request.baseCommit,
				tree: tree.id,
				diffPath: tree.diffPath,
				work,
				tools,
				layouts
			}
		};
		const turn = {
			system,
			lock: `${folder}/lock`,
			owner: options.owner,
			waitSeconds: written.turnSeconds,
			signal
		};
		return await cached(build, signal) ?? await inTurn(host, turn, async () => await cached(build, signal) ?? await buildNow(host, config, build, options));
	} finally {
		await host.run(shell`rm -rf ${work}`, { timeoutSeconds: 60 }).catch(() => {});
	}
}
async function prebuilt(host, system, { path, sha256 }, signal) {
	const found = await host.run(commandsOf[system].sha256(path), { signal });
	if (!(found.kind === "exited" && found.code === 0 && sumIn(found.stdout) === sha256)) throw new BuilderError(`${path} on ${host.name} is not the kernel with the SHA-256 ${sha256}; correct the path or the sum.`);
	return {
		kind: "built",
		key: sha256,
		archive: path,
		sha256,
		...await sizesOf(host, path),
		cached: true,
		seconds: 0,
		further: []
	};
}
/** All layout variants or none: compiling is the slow part, and even one missing variant needs it. */
async function cached({ cache, isTrusted, recipe: { layouts } }, signal) {
	const found = [];
	for (const layout of layouts) {
		const note = await cache.find(layout.key, signal);
		if (note === void 0 || !isTrusted(layout, note)) return void 0;
		found.push({
			key: layout.key,
			archive: cache.archive(layout.key),
			...note
		});
	}
	return asBuild(found, true);
}
function asBuild([first, ...further], isCached) {
	if (first === void 0) throw new TypeError("No layout of a kernel was asked for.");
	return {
		kind: "built",
		...first,
		cached: isCached,
		further
	};
}
async function buildNow(host, config, { key, cache, recipe, remember }, { signal, keepLog, onProgress, now }) {
	await sweep(host, config.folder);
	const problem = await jailProblem(host, config);
	if (problem !== void 0) throw new BuilderError(`${host.name}: ${problem.why}; ${problem.fix}.`);
	const freeBytes = await freeBytesOf(host, config.folder);
	if (freeBytes < config.leastFreeBytes) return outOfDisk(host, config, freeBytes);
	const startedAt = now();
	const cooked = await cook(host, config, recipe, {
		limitSeconds: config.limitSeconds,
		signal,
		onLine: (line) => {
			if (/^(?:>>>|===>) /.test(line)) onProgress(line);
		}
	}).catch(fullDisk);
	const log = `kernel-${key}.log`;
	await keepLog(log, cooked.log);
	if (cooked.kind === "out-of-disk") return outOfDisk(host, config, await freeBytesOf(host, config.folder));
	if (cooked.kind === "build-failed") return {
		kind: "build-failed",
		errors: cooked.errors,
		log
	};
	const seconds = now() - startedAt;
	const built = [];
	for (const layout of recipe.layouts) {
		const sha256 = sumIn(await host.output(commandsOf[config.system].sha256(layout.output)));
		const note = {
			sha256,
			...await sizesOf(host, layout.output),
			seconds,
			...cooked.uname !== void 0 && { uname: cooked.uname }
		};
		remember(layout, sha256);
		await cache.keep(layout.key, layout.output, note);
		built.push({
			key: layout.key,
			archive: cache.archive(layout.key),
			...note
		});
	}
	await cache.prune(new Set(recipe.layouts.map((layout) => layout.key)), config.cache);
	return asBuild(built, false);
}
/** Printed by git and tar when they fail; make's log is parsed elsewhere. */
function fullDisk(error) {
	if (error instanceof HostError && error.message.includes("No space left on device")) return {
		kind: "out-of-disk",
		log: ""
	};
	throw error;
}
/** Removes leftovers of lost connections. Neither a build nor the wait for its slot lasts days. */
async function sweep(host, folder) {
	await host.output(shell`find ${`${folder}/builds`} -mindepth 1 -maxdepth 1 -mtime +3 -exec rm -rf {} +`);
}
/** Column 4 of the last line of `df -k -P`, in KiB (POSIX, df). */
async function freeBytesOf(host, folder) {
	const line = (await host.output(shell`df -k -P ${folder}`)).trim().split("\n").at(-1) ?? "";
	return Number(line.split(/\s+/)[3]) * 1024;
}
function outOfDisk(host, { folder, leastFreeBytes }, freeBytes) {
	const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
	return {
		kind: "out-of-disk",
		reason: `${folder} on ${host.name} has ${gigabytes(freeBytes)} free, and a build is to have ${gigabytes(leastFreeBytes)}; free space there.`
	};
}
/** Reads the whole archive, and so detects a damaged one. */
async function sizesOf(host, archive) {
	const unpacked = shell`tar -tf ${archive} > /dev/null && tar -xOf ${archive} | wc -c`;
	return {
		bytes: Number(await host.output(shell`wc -c < ${archive}`)),
		unpackedBytes: Number(await host.output(unpacked))
	};
}

// src/kernel/variant-kernel.ts
/** Returns faults of the variant as an outcome. Throws like `buildKernel`. */
async function buildVariant(host, builder, { variant, kernel, loaded, owner, now, sums, keepLog, notify, signal }) {
	const { baseCommit, diff, layouts } = kernel;
	const request = {
		kind: "tree",
		baseCommit,
		...layouts !== void 0 && { layouts },
		...loaded !== void 0 && { loaded },
		...diff !== void 0 && { diff: Buffer.from(diff, "base64") }
	};
	const built = await buildKernel(host, builder, request, {
		signal,
		keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
		onProgress: (line) => notify(`${variant}: ${line}`),
		now,
		sums,
		owner: `${owner} (${variant})`
	});
	if (built.kind === "built") return built;
	return {
		kind: "rejected",
		rejection: built.kind === "build-failed" ? {
			kind: "build-failed",
			message: built.errors.join("\n")
		} : {
			kind: built.kind,
			message: built.reason
		}
	};
}

// src/kernel/linux-kernels.ts
/**
* The archive contains `boot/vmlinuz-RELEASE`, `boot/System.map-RELEASE` and `lib/modules/RELEASE`, or the output of a
* site's own command. It is untrusted, and may contain anything. Faults of the patch are outcomes; faults of the
* builder throw a BuilderError or a HostError.
*/
async function buildLinuxKernel(config, request) {
	const { variant, path, connect, notify, signal } = request;
	const builder = await withKernelConfig(config);
	signal.throwIfAborted();
	notify(`building the kernel of ${variant}`);
	const { host: name } = config;
	await using host = name === void 0 ? thisMachine() : await connect({
		...config,
		host: name
	}, "builder");
	const built = await buildVariant(host, builder, request);
	if (built.kind === "rejected") return built;
	await fetchKernel(host, built, path, signal);
	return {
		kind: "archive",
		path,
		sha256: built.sha256,
		cached: built.cached
	};
}
async function withKernelConfig(config) {
	const { recipe, ...place } = config;
	if (recipe.kind === "command") return {
		...place,
		recipe
	};
	try {
		const kernelConfig = await readFile(recipe.configPath, "utf8");
		return {
			...place,
			recipe: {
				...recipe,
				kernelConfig
			}
		};
	} catch (error) {
		throw new BuilderError(`The kernel's configuration ${recipe.configPath} cannot be read (${reasonOf(error)}); correct \`builder.kernel.config\` in ppsgate.yml.`);
	}
}

export { BuilderError, ExposedPlaceError, buildLinuxKernel, buildVariant, builderOf, checkNotOpen, checkOwn, entriesOf, fetchKernel, gitIn, givenKernel, isOwned, isPlaceLeftAlone, jailProblem, kernelSums, makingOf, mayChangeKernel, noSums, outsideOptions, pathsIn, pathsThatCount, placesLeftAlone, readOverlay, socketsInJail, sourceOf, submodule, sumsFolder, testbedsThatDiffer, touchedCells, variantSchema, variantsByMaking, whyNoRoot };