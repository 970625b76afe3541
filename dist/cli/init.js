import { version } from "../package.js";
import { UsageError, overlayFiles } from "../model/first-plain.js";
import { excerpt, expected } from "../model/excerpt.js";
import { parseConfig, systemOf } from "../config/first.js";
import { githubFailure, makeLabel } from "../forge/github.js";
import { approvalLabel, modeline, overlayOf, readIfThere } from "./init/plain.js";
const { join, relative, resolve, sep } = globalThis.process.getBuiltinModule("node:path");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { lstat, readdir } = globalThis.process.getBuiltinModule("node:fs/promises");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");

// src/cli/init/freebsd-tree.ts
/** Throws a UsageError for an address or a checksum that a workflow cannot contain. */
function parseImage(url, sha512) {
	if (!/^https:\/\/[\w.-]+\/[\w./-]{1,300}\.(?:raw|qcow2)(?:\.xz)?$/.test(url)) throw new UsageError(`--image: expected the https address of an official image, as of FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz, found "${excerpt(url)}".`);
	if (!/^[0-9a-f]{128}$/i.test(sha512)) throw new UsageError(`--sha512: expected the image's SHA-512 from the CHECKSUM.SHA512 beside it, found "${excerpt(sha512)}".`);
	return {
		url,
		sha512: sha512.toLowerCase()
	};
}
/** Runners of GitHub discard the folder after each job, but a cache keeps it. */
const imageFolder = "/var/tmp/ppsgate-image";
const imagePath = ({ url }) => `${imageFolder}/${url.slice(url.lastIndexOf("/") + 1)}`;
const freebsdTreeConfig = (action, image) => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/virtual.md of ppsgate says what guests measure, and what they cannot see.

testbeds:
  # Kernels of base and patched boot side by side in this image; instructions per packet are counted.
  guests:
    kind: virtual
    image:
      path: ${imagePath(image)}
      sha512: ${image.sha512}
    builder:
      kind: cross
      user: kernels
      freeSpace: 4 GB
      # Debian's and Ubuntu's clang reach the stack's guard by a relocation that FreeBSD loads no module with.
      options: [-DWITHOUT_SSP]
      # Compiles only what the patch has touched, from the objects of base.
      clean: false

scenarios: [forwarding, pf-stateful, ipfw-stateful]
families: [inet4, inet6]
`;
/** Measures rules of pf or ipfw, which guests load with the image's own kernel. */
const freebsdRulesConfig = (action, image, found) => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/virtual.md of ppsgate says what guests measure, and what they cannot see.

${overlayOf(found)}
testbeds:
  # Guests of this image with the rules of base and patched run side by side; instructions per packet are counted.
  guests:
    kind: virtual
    image:
      path: ${imagePath(image)}
      sha512: ${image.sha512}

# The rules of the overlay are in force in this scenario.
scenarios: [forwarding]
families: [inet4, inet6]
`;
const cacheAction = "actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0";
/** Steps before a measurement of a tree: the image, and the tools that build kernels of FreeBSD. */
const freebsdTreeSteps = (image) => `${freebsdImageSteps(image)}\n${builderSteps}`;
/** Downloads the image, or restores it from the cache. */
const freebsdImageSteps = (image) => `\
      - uses: ${cacheAction}
        with:
          path: ${imageFolder}
          key: ppsgate-image-${image.sha512}
      - name: Fetch the image of FreeBSD
        env:
          URL: ${image.url}
          IMAGE: ${imagePath(image)}
          SHA512: ${image.sha512}
        run: |
          mkdir -p "$(dirname "$IMAGE")"
          test -e "$IMAGE" || curl --fail --silent --show-error --location --retry 5 --output "$IMAGE" "$URL"
          echo "$SHA512  $IMAGE" | sha512sum --check --quiet`;
const builderSteps = `\
      # The patch's makefiles run as \`kernels\`, which has no network and may write to nothing but the folder of builds; the
      # clone is root's, and shares its objects with the checkout.
      - name: Ready this machine to build kernels
        run: |
          sudo apt-get -qq update
          sudo apt-get -qq install --yes --no-install-recommends bison clang flex libarchive-dev libbz2-dev lld
          sudo useradd --system --shell /usr/sbin/nologin kernels
          sudo git clone --quiet --no-checkout "$GITHUB_WORKSPACE" /usr/src`;

// src/cli/init/init-overlay.ts
/** Path of the overlay (without one, `planned`) if a testbed installs it and it has no file yet. */
async function missingOverlay(directory, planned) {
	try {
		const path = join(directory, "ppsgate.yml");
		const text = await readIfThere(path) ?? planned;
		const config = parseConfig(text, {
			path,
			home: "/"
		});
		if (!("path" in config.overlay)) return void 0;
		const isInstalled = Object.keys(config.testbeds).some((name) => systemOf(config, name) === "linux");
		const place = resolve(directory, config.overlay.path);
		const folder = relative(directory, place);
		const isWithin = folder !== "" && folder.split(sep)[0] !== "..";
		return isInstalled && isWithin && await isEmpty(place) ? folder : void 0;
	} catch {
		return;
	}
}
/** Finds files at the repository's top, otherwise in its etc/; none if `dut`, the usual overlay, has files. */
async function findFiles(directory, system) {
	const found = /* @__PURE__ */ new Map();
	if (!await isEmpty(join(directory, "sys")).catch(() => true)) return found;
	if (!await isEmpty(join(directory, "dut")).catch(() => false)) return found;
	for (const name of overlayFiles[system]) for (const path of [name, `etc/${name}`]) if (!found.has(name) && await isPlainFile(join(directory, path))) found.set(name, path);
	return found;
}
/** True for a plain file: an overlay has no links, which would lead to other files. */
const isPlainFile = (path) => lstat(path).then((stats) => stats.isFile(), () => false);
async function isEmpty(folder) {
	try {
		return (await readdir(folder)).length === 0;
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return true;
		throw error;
	}
}

// src/cli/init/setting.ts
const run = promisify(execFile);
/** Parses labels with commas, such as `ubuntu-latest` or `self-hosted,lab`; throws a UsageError for others. */
function parseRunner(text) {
	const labels = text.split(",").map((label) => label.trim());
	const [first = ""] = labels;
	const isPlain = labels.every((label) => /^[a-z\d][\w.-]{0,99}$/i.test(label));
	if (isPlain && first === "self-hosted") return {
		kind: "self-hosted",
		labels
	};
	if (isPlain && /^ubuntu-/.test(first) && labels.length === 1) return {
		kind: "hosted",
		labels
	};
	throw refused("--runner", "ubuntu-latest, or labels like self-hosted,lab", text);
}
/** Parses `OWNER/NAME@COMMIT`, or with its version `… # v0.1.0`; throws a UsageError without a full commit. */
function parseAction(text) {
	if (/^[\w.-]+\/[\w.-]+@[\da-f]{40}(?: # v\d+\.\d+\.\d+)?$/.test(text)) return text;
	if (text === "") throw new UsageError("--action: the running ppsgate is not a clone from GitHub: name the version for the workflows as OWNER/ppsgate@COMMIT.");
	const name = /^[\w.-]+\/[\w.-]+@([\w./-]+)$/.exec(text)?.[1];
	if (name === void 0) throw refused("--action", "OWNER/ppsgate@COMMIT, a commit with all 40 digits", text);
	throw new UsageError(`--action: ${name} is not a full 40-digit commit, and a tag or branch can be moved: pin the commit that it names now.`);
}
function parseBranch(text) {
	if (/^(?!.*(?:\.\.|\/\/))[a-z\d][\w./-]{0,99}(?<![/.])$/i.test(text)) return text;
	throw refused("--branch", "the name of a branch like main", text);
}
function parseRepository(text) {
	if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
	throw refused("--repository", "OWNER/NAME", text);
}
async function readClone(folder) {
	const directory = await gitLine(folder, "rev-parse", "--show-toplevel");
	if (directory === void 0) throw new UsageError(`${folder} is not in a git repository: run \`ppsgate init\` in the repository with the patches.`);
	const remoteHead = await gitLine(directory, "symbolic-ref", "--short", "refs/remotes/origin/HEAD");
	const head = await gitLine(directory, "symbolic-ref", "--short", "HEAD");
	const repository = await repositoryOf(directory);
	return {
		directory,
		branch: remoteHead?.replace(/^origin\//, "") ?? head ?? "main",
		...repository !== void 0 && { repository }
	};
}
/** Returns the running ppsgate as an action, if it is a GitHub clone; with the version if HEAD is tagged. */
async function ownAction(folder) {
	const repository = await repositoryOf(folder);
	const commit = await gitLine(folder, "rev-parse", "HEAD");
	if (commit === void 0 || !repository?.endsWith("/ppsgate")) return void 0;
	const tag = `v${version}`;
	return `${repository}@${commit}${await gitLine(folder, "rev-parse", "--verify", `refs/tags/${tag}^{commit}`) === commit ? ` # ${tag}` : ""}`;
}
async function repositoryOf(folder) {
	const url = await gitLine(folder, "remote", "get-url", "origin");
	return /(?:^|[/@])github\.com[:/]+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url ?? "")?.[1];
}
async function gitLine(folder, ...args) {
	return (await run("git", [
		"-C",
		folder,
		...args
	]).catch(() => void 0))?.stdout.trim() || void 0;
}
const refused = (flag, what, text) => new UsageError(`${flag}: ${expected(what)({ input: text || void 0 })}.`);

// src/cli/init/init-selectors.ts
/** By the flag; without it FreeBSD where the only rules are those of pf or ipfw. */
async function kindOf(options, directory) {
	const { kind } = options;
	const linux = await findFiles(directory, "linux");
	const freebsd = await findFiles(directory, "freebsd");
	const usual = freebsd.size > 0 && !linux.has("nftables.conf") ? "freebsd" : "linux";
	const system = isFreebsd({
		...options,
		kind: kind ?? usual
	}) ? "freebsd" : "linux";
	if (system === "linux") return {
		system,
		found: linux,
		leftOut: kind === void 0 ? ofFreebsd(linux, freebsd) : []
	};
	if (kind === void 0 && options.image === void 0 && options.yes) throw new UsageError(`${[...freebsd.values()].join(" and ")} is measured on FreeBSD guests: name their official image with --image and --sha512, or begin with other rules with \`--kind linux\`.`);
	const [first, ...others] = [...freebsd];
	return {
		system,
		found: new Map(first && [first]),
		leftOut: others.map(([name, path]) => ({
			path,
			why: `${first?.[1]} is measured, and a scenario has one firewall; to measure this one, write \`overlay: { files: { ${name}: ${path} } }\` in ppsgate.yml`
		}))
	};
}
/** Explains a choice that the user did not make. */
const ofFreebsd = (linux, freebsd) => [...freebsd.values()].map((path) => ({
	path,
	why: `is for FreeBSD, and ppsgate chose Linux because of ${linux.get("nftables.conf") ?? "its files"}; to measure this one, run \`ppsgate init --kind freebsd\``
}));
async function readSelectors(options, clone, { own, ask }) {
	const answer = async (flag, question, usual = "") => flag ?? (await ask?.(usual === "" ? `${question} ` : `${question} [${usual}] `) || usual);
	const isGuest = clone.system === "freebsd";
	const image = isGuest && {
		url: await answer(options.image, "https address of the official FreeBSD image?"),
		sha512: await answer(options.sha512, "Its SHA-512, from its CHECKSUM.SHA512?")
	};
	const usual = isGuest ? "ubuntu-24.04" : "ubuntu-latest";
	const runner = await answer(options.runner, `Runner for measurements: ${usual}, or self-hosted with its labels?`, usual);
	const pin = await answer(options.action, "Version of ppsgate, as OWNER/ppsgate@COMMIT?", own);
	const branch = await answer(options.branch, "Default branch?", clone.branch);
	const repository = await answer(options.repository, "Repository on GitHub, as OWNER/NAME?", clone.repository);
	const isPinned = pin !== "" || options.action !== void 0;
	return {
		runner: parseRunner(runner),
		...isPinned && { action: own?.startsWith(`${parseAction(pin)} `) ? own : parseAction(pin) },
		branch: parseBranch(branch),
		repository: repository === "" ? void 0 : parseRepository(repository),
		found: clone.found,
		leftOut: clone.leftOut,
		...image && { image: parseImage(image.url, image.sha512) }
	};
}
function isFreebsd({ kind = "linux", image, sha512 }) {
	if (kind !== "linux" && kind !== "freebsd") throw new UsageError(`--kind: expected linux or freebsd, found "${excerpt(kind)}".`);
	const stray = image === void 0 ? sha512 && "--sha512" : "--image";
	if (kind === "linux" && stray !== void 0) throw new UsageError(`${stray}: requires --kind freebsd; add that, or drop it.`);
	return kind === "freebsd";
}

// src/cli/init/label.ts
const color = "1d76db";
const description = "ppsgate may measure this pull request as it stands";
/** Does not throw for failures of GitHub or the network. */
async function createLabel(octokit, repository) {
	try {
		return {
			kind: await makeLabel({
				octokit,
				repository
			}, {
				name: "ppsgate",
				color,
				description
			}) === "made" ? "created" : "unchanged",
			repository
		};
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return labelByHand(whyNot(failure, repository), repository);
	}
}
function labelByHand(why, repository) {
	return {
		kind: "not-created",
		why,
		command: `gh label create ${approvalLabel} --repo ${repository ?? "OWNER/NAME"} --color ${color} --description "${description}"`
	};
}
function whyNot(failure, repository) {
	const what = `The label ${approvalLabel} was not created on ${repository}`;
	if (failure.kind === "no-answer") return `${what}: GitHub cannot be reached (${failure.detail}).`;
	return `${what}: GitHub answered ${failure.detail}.`;
}

export { createLabel, freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps, kindOf, labelByHand, missingOverlay, ownAction, readClone, readSelectors };