import { driversOf, lastLine, plainLine } from "../model/first-plain.js";
import { checkOwn } from "../system/own-file.js";
import { shell } from "../system/shell.js";
import { isGood } from "../system/host/first-plain.js";
const { isAbsolute, join } = globalThis.process.getBuiltinModule("node:path");
const { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { createHash, randomUUID } = globalThis.process.getBuiltinModule("node:crypto");

// src/kernel/builder-error.ts
/** The message is one sentence with the fix. */
var BuilderError = class extends Error {
	name = "BuilderError";
};

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
/** Has no network. All processes, including daemons, end with the first one. */
const namespaces = shell`unshare --net --ipc --mount --pid --fork --kill-child`;
/** The first process of a PID namespace ignores signals without a handler. */
const firstProcess = "trap \"exit 143\" TERM; \"$@\" & wait \"$!\"";
/** Creates or reuses a folder that the build may write to. */
const buildFolder = ({ jail }, path) => jail === void 0 ? shell`mkdir -p ${path}` : shell`mkdir -p ${path} && chown ${jail.user} ${path}`;
/** Returns the first gap through which a build could reach the network, the cache or the clone. */
async function jailProblem(host, place, timeoutSeconds = 60) {
	const { system, jail, folder, repository } = place;
	const limits = { timeoutSeconds };
	if (jail === void 0) {
		if (system !== "linux") return void 0;
		const id = await host.run(shell`id -u`, limits);
		return isGood(id) && Number(id.stdout) !== 0 ? void 0 : {
			why: "the login user is root",
			fix: "name another `user` in ppsgate.yml"
		};
	}
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
		const fix = `run \`chown -R root ${writablePlace}\` and \`chmod -R go-w ${writablePlace}\` on ${host.name}`;
		return {
			why: `${named} may write to ${writablePlace}`,
			fix
		};
	}
	if (isGood(await host.run(shell`test -d ${folder}`, limits)) && !isGood(await host.run(inJail(place, shell`test -x ${folder}`), limits))) {
		const fix = name === void 0 ? "give all users access to its path" : "give it `path = \"/\";`";
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
		const fix = `add it to /etc/jail.conf of ${host.name}, and run \`service jail start ${name}\``;
		return {
			why: `${named} is not running`,
			fix
		};
	}
	if (network.stdout.trim() !== "disable disable") {
		const fix = `set \`ip4 = disable; ip6 = disable;\` in its /etc/jail.conf, and run \`service jail restart ${name}\``;
		return {
			why: `${named} has a network`,
			fix
		};
	}
	if ((await host.run(shell`jls -j ${name} allow.sysvipc`, limits)).stdout.trim() === "true") {
		const fix = `remove \`allow.sysvipc\` from its /etc/jail.conf, and run \`service jail restart ${name}\``;
		return {
			why: `${named} shares memory with ${host.name}`,
			fix
		};
	}
	const id = await host.run(inJail(place, shell`id -u`), limits);
	const add = `run \`pw useradd ${user} -d /nonexistent -s /usr/sbin/nologin\` on ${host.name}`;
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
	const fix = `run \`useradd --system --shell /usr/sbin/nologin ${user}\` on ${host.name}`;
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
		why: `a build cannot be confined to ${user} without network: ${lastLine(inside.stderr) ?? ""}`,
		fix: "run ppsgate as root, and install unshare, setpriv and mount (util-linux)"
	};
}
const writableScript = "for place do if test -w \"$place\"; then echo \"$place\"; fi; done";
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

// src/kernel/cross-build.ts
/** Throws a BuilderError if the given folder, or without one the whole builder, lacks clang or lld. */
async function crossToolsOf(host, { toolFolder }) {
	const { stdout } = await host.run(shell`sh -c ${findToolsScript} tools ${toolFolder ?? ""}`);
	const folder = stdout.trim();
	if (folder !== "") return {
		clang: `${folder}/clang`,
		lld: `${folder}/ld.lld`
	};
	const where = toolFolder ?? "/usr/lib/llvm-*/bin or /usr/bin";
	throw new BuilderError(`${host.name} has no clang with ld.lld in ${where} to build FreeBSD kernels.`);
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
* Runs the tree's make.py, which builds bmake first. bmake's own test fails if SIGINT is ignored, as in a shell's
* background jobs.
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
/**
* Programs of the target that a kernel does not need; their generators take most of a toolchain's build
* (Makefile.inc1).
*/
const withoutCompiler = [
	"CLANG",
	"LLD",
	"LLDB",
	"LLVM_BINUTILS"
].map((name) => `-DWITHOUT_${name}`);
/**
* Returns the reasons why modules in a kernel's folder cannot be loaded, one sentence each. The kernel linker knows
* only a few types of relocations (elf_machdep.c in FreeBSD's sys/amd64). It resolves symbols only from the kernel and
* other modules.
*/
async function whyNotLoadable(host, place, kernelFolder) {
	const command = shell`sh -c ${loadableScript} loadable ${kernelFolder} ${knownRelocations}`;
	const { stdout, stderr } = await host.run(inJail(place, command), { timeoutSeconds: 600 });
	const lines = stdout.split("\n").filter(Boolean);
	if (lines.at(-1) !== "done") throw new BuilderError(`The modules of a kernel could not be examined on ${host.name} (${lastLine(stderr) ?? "no output"}): install binutils there.`);
	return lines.slice(0, -1).map((line) => {
		const [kind, module = "", name = "", symbol = ""] = plainLine(line, 200).split(" ");
		return kind === "relocation" ? `${module} cannot be loaded: it references ${symbol} with ${name}, a relocation that FreeBSD's kernel linker refuses; build without stack protection (\`options: [-DWITHOUT_SSP]\`), or with another clang (\`tools\`).` : `${module} cannot be loaded: neither the kernel nor another built module defines ${name}.`;
	});
}
const knownRelocations = "NONE|64|PC32|PLT32|32S|GLOB_DAT|JUMP_SLOT?|RELATIVE|IRELATIVE?";
/** Prints at most 20 faults. Symbols that the kernel linker creates itself are no faults. */
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
/**
* Returns releases and checksums of programs: a rebuilt one may keep its version. Throws a HostError without a
* compiler.
*/
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
/** Programs of the builder that make runs before, or instead of, those that it has built. */
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
/** Includes all files of the folder, as a configuration may include any of them. Follows links to their targets. */
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
/** `contrib` and `sys` have few manuals, so they need no rule. */
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
/** The configuration reads all of them, including those of `Documentation` and `samples`. */
const isKconfig = (path) => /(?:^|\/)(?:Kconfig|Kbuild)[^/]*$/.test(path);
/** Excludes parts of `tools`: the build uses objtool and its libraries. */
const isBesideLinux = (path) => /^(?:Documentation|LICENSES|samples|tools\/(?:memory-model|net|perf|power|testing|tracing|usb|virtio))\/|^(?:CREDITS|MAINTAINERS|README)$|\.rst$/.test(path);

// src/kernel/touched.ts
/**
* Returns the place (of ppsgate.yml or the tables below) that keeps a file from affecting the testbed: a driver of
* unused ports, or files of another machine. Undefined if it may affect it: a needless measurement costs an hour, a
* missing one hides a regression.
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
/** Folders that belong only to the driver of these ports. A folder that two drivers share is listed for both. */
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
/** Folders of kernels for a single machine, by make's TARGET. 64-bit kernels use 32-bit files, too. */
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
/** Target machine of the kernels; undefined if the configuration does not specify it. */
function machineOf({ builder }) {
	if (builder?.recipe.kind !== "make") return void 0;
	if (builder.recipe.cross !== void 0) return "amd64";
	const name = builder.recipe.options.findLast((option) => option.startsWith("TARGET="))?.slice(7);
	return name !== void 0 && Object.hasOwn(machines, name) ? name : void 0;
}

// src/kernel/kernel-sums.ts
/** Trusts only kernels that were just built. */
const noSums = {
	get: () => void 0,
	set: () => {}
};
/**
* Stores one file per kernel, until half a year after its last use. A failed write, or a file that other users may
* write, costs only a rebuild.
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

export { BuilderError, bmakeTests, buildFolder, crossMake, crossToolsOf, inJail, isPlaceLeftAlone, jailProblem, kernelSums, keyOf, keyOfLayout, mayChangeKernel, noSums, outsideOptions, placeLeftAlone, socketsInJail, sumsFolder, toolsOf, touchedCells, whyNotLoadable };