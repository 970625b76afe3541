import { plainBlock, plainLine } from "./first-plain.js";

// src/model/freebsd-machine.ts
const withoutKernelFacts = (fingerprint) => Object.fromEntries(Object.entries(fingerprint).filter(([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name)));
/** Facts that neither another kernel nor another boot changes. */
const machineFacts = (fingerprint) => Object.fromEntries(Object.entries(withoutKernelFacts(fingerprint)).filter(([name]) => !volatileFacts.has(name)));
const kernelFacts = /* @__PURE__ */ new Set([
	"ident",
	"RSS",
	"release"
]);
const kernelDependentFacts = /* @__PURE__ */ new Set([
	"kernel",
	"kern.bootfile",
	"kern.boottime",
	"kernel sha256"
]);
/** The frequency follows the load, and the kernel chooses its route lookup by the number of routes. */
const volatileFacts = /* @__PURE__ */ new Set([
	"dev.cpu.0.freq",
	"net.route.algo.inet.algo",
	"net.route.algo.inet6.algo"
]);

// src/model/xml.ts
/** Safe as text and in quoted attributes. Characters that XML forbids, or that hide or reverse text, become a space. */
const escaped = (text) => text.replace(unfit, " ").replace(/[&<>"']/g, (one) => entities[one] ?? "");
const unfit = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;
const entities = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	"\"": "&quot;",
	"'": "&#39;"
};

// src/model/remarkup.ts
/**
* Inline code, cut to `maxCharacters`: no mention, object, link, macro or line break takes effect. Must not follow a
* letter or digit directly, or its first backtick is literal.
*/
const remarkupText = (untrusted, maxCharacters = 200) => inCode(plainLine(untrusted, maxCharacters));
/** Takes a plain line: removing characters afterwards could join separate ones. */
function inCode(line) {
	const inside = line.replaceAll("`", "'").replaceAll("${{{", "$ {{{");
	return inside === "" ? "" : `\`${inside}\``;
}
/** Fits a table column, which is split at `|` before code is recognized, except between `[[` and `]]`. */
const remarkupCell = (untrusted, maxCharacters = 100) => inCode(plainLine(untrusted, maxCharacters).replaceAll("|", "¦").replace(/\[(?=\[)/g, "[ "));
/** Escapes one of our own lines that may contain untrusted parts: all but plain words becomes code. */
const remarkupWords = (line) => plainLine(line, 300).split(" ").map((word) => plainWord.test(word) ? word : remarkupText(word)).join(" ");
/** Excludes capitals, which may name a repository, and possible commit hashes. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;
/**
* A code block that scrolls beyond `visibleLines`; its middle is cut out if it is too long. A line that ends in three
* backticks would close it, and a first line like `lang=c` would set options.
*/
function remarkupBlock(name, untrusted, visibleLines = 12, maxCharacters = 6e3) {
	return `\`\`\`lang=text, name=${name.replace(/[^\w .-]+/g, "").trim()}, lines=${visibleLines}\n${plainBlock(untrusted, maxCharacters).replaceAll("```", "'''")}\n\`\`\``;
}
/**
* Alternative text of an image, as in `{F1, alt=…}`. Phorge shows the braces in place of the image if another rule
* takes effect in them. So letters and digits that could name an object or a commit are set apart.
*/
const remarkupAlt = (text, maxCharacters = 300) => plainLine(text, maxCharacters).replaceAll(",", ";").replace(/[^\p{L}\p{N} .:;%±…–−+()-]+|:(?! )/gu, " ").replace(/[A-Z](?=\d)|r(?=[A-Z])|[0-9a-f]{6}(?=[0-9a-f])/g, "$& ").replace(/ +/g, " ").trim();

// src/model/packages.ts
/** Program → Debian's and Ubuntu's package, or FreeBSD's for its own programs. */
const packages = {
	bash: "bash",
	busybox: "busybox-static",
	chrt: "util-linux",
	cpio: "cpio",
	"dpkg-deb": "dpkg",
	ethtool: "ethtool",
	flock: "util-linux",
	gcc: "build-essential",
	git: "git",
	ip: "iproute2",
	kmod: "kmod",
	nft: "nftables",
	pkill: "procps",
	"pkt-gen": "pkt-gen",
	"qemu-system-x86_64": "qemu-system-x86",
	"ssh-keygen": "openssh-client",
	sshd: "openssh-server",
	sysctl: "procps",
	taskset: "util-linux",
	trafgen: "netsniff-ng",
	unshare: "util-linux",
	xz: "xz-utils",
	zstd: "zstd"
};
const packagesOf = (programs) => [...new Set(programs.map((program) => packages[program]))];

export { escaped, kernelDependentFacts, machineFacts, packagesOf, remarkupAlt, remarkupBlock, remarkupCell, remarkupText, remarkupWords, volatileFacts, withoutKernelFacts };