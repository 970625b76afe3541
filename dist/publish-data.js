import { n as __require, t as __commonJSMin } from "./rolldown-runtime.js";
import { n as log } from "./log.js";
import { C as object, E as string } from "./scenario.js";
import { r as reasonOf } from "./one-line.js";
import { K as patchName, L as resultSchema } from "./markdown.js";
import { a as githubFailure, o as isBreakdown } from "./github.js";
import { a as parseMaxRuns, t as UsageError } from "./overrides.js";
import { c as readPlan } from "./plan.js";
import { t as readProfiles } from "./profiles.js";
import { t as replaceFile } from "./write.js";
import { a as historyPath, c as parseHistory, i as emptyIndex, l as parseIndex, o as indexPath, s as nextFiles, t as linkTo } from "./data-links.js";
import { dirname, join, relative, sep } from "node:path";
import { isUtf8 } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";
import { mkdir, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

// src/publish/data-branch.ts
/**
* Puts results into the branch in one commit, or with none brings its badges up to date; makes the branch where there
* is none. What others publish meanwhile is kept, and the same result again replaces itself. Never throws for what
* GitHub or the network did: the result is then in `why`, one sentence.
*/
async function publishToBranch(octokit, place, publications, options) {
	try {
		const { commit, published } = await publishPatiently(branchOf(octokit, place), publications, {
			...options,
			isSite: place.pages !== void 0
		});
		return {
			kind: "published",
			commit,
			links: published.map((paths) => linksOf(place, paths))
		};
	} catch (error) {
		if (error instanceof BranchError) return {
			kind: "not-published",
			why: error.message
		};
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: "not-published",
			why: whyNot$1(failure, branchOf(octokit, place))
		};
	}
}
/**
* The history in the branch, for which a token needs `contents: read` alone; empty where there is no such branch.
* Throws an Error of one sentence where GitHub cannot be asked.
*/
async function readHistory(octokit, place) {
	const branch = branchOf(octokit, place);
	try {
		const tip = await readTip(branch);
		return tip === void 0 ? [] : parseHistory(await readText$1(branch, tip, historyPath));
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		throw new Error(`The history in the branch ${place.branch} of ${place.repository} cannot be read (${failure.said}): run the job again, and check that it has \`permissions: contents: read\`.`);
	}
}
/** Something about the branch that has to be put right first, in one sentence. */
var BranchError = class extends Error {};
function branchOf(octokit, { repository, branch }) {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		octokit,
		owner,
		repo,
		name: branch
	};
}
function linksOf(place, paths) {
	const { result, report, page, graphs, badges } = paths;
	const link = (path) => linkTo(place, path);
	return {
		...result !== void 0 && { result: link(result) },
		...report !== void 0 && { report: link(report) },
		...page !== void 0 && { page: link(page) },
		graphs: new Map([...graphs].map(([anchor, path]) => [anchor, link(path)])),
		badges: badges.map(link)
	};
}
const mostFailures = 3;
/** Octokit itself has then tried each request several times. */
async function publishPatiently(branch, publications, options, failures = 1) {
	const { pause = realPause, random = Math.random } = options;
	try {
		return await publishInTurn(branch, publications, options);
	} catch (error) {
		if (failures === mostFailures || !isBreakdown(githubFailure(error))) throw error;
	}
	await pause((failures + random()) * 10);
	return publishPatiently(branch, publications, options, failures + 1);
}
const mostTries$1 = 10;
const longestPauseSeconds = 30;
/** Reads, computes and writes, until nobody else wrote meanwhile. */
async function publishInTurn(branch, publications, { now, pause = realPause, random = Math.random, ...options }) {
	const rules = {
		...options,
		now: now()
	};
	const repositoryId = await repositoryIdOf(branch);
	let refused;
	for (let tries = 1; tries <= mostTries$1; tries++) {
		const tip = await readTip(branch, "1");
		if (refused !== void 0 && refused.at === tip?.commit) throw refused.error;
		const { published, ...next } = nextFiles(await readStored$1(branch, tip), publications, rules);
		const tree = await writeTree(branch, tip, next);
		if (tip?.tree === tree) return {
			commit: tip.commit,
			published
		};
		const commit = await writeCommit(branch, tree);
		const move = await moveBranch(branch, repositoryId, {
			from: tip?.commit,
			to: commit
		});
		if (move.kind === "moved") return {
			commit,
			published
		};
		refused = {
			at: tip?.commit,
			error: move.error
		};
		await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
	}
	throw new BranchError(`${nothing(branch)} because others changed it ${mostTries$1} times meanwhile: publish the result again later.`);
}
const realPause = (seconds) => setTimeout(seconds * 1e3);
async function repositoryIdOf(branch) {
	const { octokit, owner, repo } = branch;
	const query = "query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }";
	try {
		const answer = await octokit.graphql(query, {
			owner,
			repo
		});
		return object({ repository: object({ id: string() }) }).parse(answer).repository.id;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind !== "answered" || failure.status !== refusedByGraphql) throw error;
		throw new BranchError(`${nothing(branch)} because the token sees no such repository (${failure.said}): check its name, and what the token may read.`);
	}
}
/** GraphQL answers it whatever it says. */
const refusedByGraphql = 200;
/** Undefined where there is no such branch. With `recursive` files in folders are told, too. */
async function readTip(branch, recursive) {
	const commit = await readRef(branch);
	if (commit === void 0) return void 0;
	const { octokit, owner, repo } = branch;
	const { git } = octokit.rest;
	const { data } = await git.getCommit({
		owner,
		repo,
		commit_sha: commit
	});
	const tree_sha = data.tree.sha;
	const listed = await git.getTree({
		owner,
		repo,
		tree_sha,
		...recursive && { recursive }
	});
	return {
		commit,
		tree: tree_sha,
		files: new Map(listed.data.tree.flatMap(({ type, path, sha }) => type === "blob" ? [[path, sha]] : [])),
		isWhole: !listed.data.truncated
	};
}
async function readRef({ octokit, owner, repo, name }) {
	try {
		const { data } = await octokit.rest.git.getRef({
			owner,
			repo,
			ref: `heads/${name}`
		});
		return data.object.sha;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind === "answered" && failure.status === 404) return void 0;
		throw error;
	}
}
/** Throws a BranchError where the branch is somebody else's: it would lose its history. */
async function readStored$1(branch, tip) {
	if (tip === void 0) return {
		index: emptyIndex,
		history: []
	};
	const index = parseIndex(await readText$1(branch, tip, indexPath));
	if (index === void 0) throw new BranchError(`${nothing(branch)} because it has no ${indexPath} of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`);
	return {
		index,
		history: parseHistory(await readText$1(branch, tip, historyPath)),
		...tip.isWhole && { paths: new Set(tip.files.keys()) }
	};
}
/** Empty where there is no such file. */
async function readText$1({ octokit, owner, repo }, tip, path) {
	const file_sha = tip.files.get(path);
	if (file_sha === void 0) return "";
	const { data } = await octokit.rest.git.getBlob({
		owner,
		repo,
		file_sha
	});
	return Buffer.from(data.content, "base64").toString();
}
/** Longer files are sent one by one, so that no request grows with the number of results. */
const mostInlineCharacters = 1e5;
async function writeTree(branch, tip, { write, remove }) {
	const { octokit, owner, repo } = branch;
	const file = {
		mode: "100644",
		type: "blob"
	};
	const written = [];
	for (const [path, content] of write) {
		const held = content.length <= mostInlineCharacters ? { content } : { sha: await writeBlob(branch, content) };
		written.push({
			...file,
			path,
			...held
		});
	}
	const { data } = await octokit.rest.git.createTree({
		owner,
		repo,
		...tip && { base_tree: tip.tree },
		tree: [...written, ...remove.map((path) => ({
			...file,
			path,
			sha: null
		}))]
	});
	return data.sha;
}
async function writeBlob({ octokit, owner, repo }, content) {
	const { data } = await octokit.rest.git.createBlob({
		owner,
		repo,
		content,
		encoding: "utf-8"
	});
	return data.sha;
}
/** Without parents: what is not in the branch any more shall not be in a clone of it. */
async function writeCommit({ octokit, owner, repo }, tree) {
	const { data } = await octokit.rest.git.createCommit({
		owner,
		repo,
		message: "Results of ppsgate",
		tree,
		parents: []
	});
	return data.sha;
}
const noCommit = "0".repeat(40);
/**
* Moves the branch if it is still where it was read, which the REST API cannot be asked for. GitHub does not document
* how it words that it is not, so every refusal is taken for that until the branch is seen not to have moved.
*/
async function moveBranch({ octokit, name }, repositoryId, { from = noCommit, to }) {
	const mutation = "mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";
	const update = {
		name: `refs/heads/${name}`,
		beforeOid: from,
		afterOid: to,
		force: true
	};
	try {
		await octokit.graphql(mutation, { input: {
			repositoryId,
			refUpdates: [update]
		} });
		return { kind: "moved" };
	} catch (error) {
		if (githubFailure(error) === void 0) throw error;
		return {
			kind: "refused",
			error
		};
	}
}
const nothing = ({ owner, repo, name }) => `Nothing was published in the branch ${name} of ${owner}/${repo}`;
function whyNot$1(failure, branch) {
	const what = nothing(branch);
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
	switch (failure.status) {
		case 401: return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
		case 403:
		case 404: return `${what} because the token may not (${failure.said}): give the job \`permissions: contents: write\`, or, for a pull request from a fork, publish from a workflow_run job; where rules protect the branch, let the token pass them.`;
		case refusedByGraphql:
		case 422: return `${what} because GitHub refused it (${failure.said}): where rules protect the branch, let the token pass them, or name another one in \`github.data.branch\`.`;
		default: return `${what} because GitHub answered ${failure.said}; the result itself is kept.`;
	}
}

// node_modules/pend/index.js
var require_pend = /* @__PURE__ */ __commonJSMin(((exports, module) => {
	module.exports = Pend;
	function Pend() {
		this.pending = 0;
		this.max = Infinity;
		this.listeners = [];
		this.waiting = [];
		this.error = null;
	}
	Pend.prototype.go = function(fn) {
		if (this.pending < this.max) pendGo(this, fn);
		else this.waiting.push(fn);
	};
	Pend.prototype.wait = function(cb) {
		if (this.pending === 0) cb(this.error);
		else this.listeners.push(cb);
	};
	Pend.prototype.hold = function() {
		return pendHold(this);
	};
	function pendHold(self) {
		self.pending += 1;
		var called = false;
		return onCb;
		function onCb(err) {
			if (called) throw new Error("callback called twice");
			called = true;
			self.error = self.error || err;
			self.pending -= 1;
			if (self.waiting.length > 0 && self.pending < self.max) pendGo(self, self.waiting.shift());
			else if (self.pending === 0) {
				var listeners = self.listeners;
				self.listeners = [];
				listeners.forEach(cbListener);
			}
		}
		function cbListener(listener) {
			listener(self.error);
		}
	}
	function pendGo(self, fn) {
		fn(pendHold(self));
	}
}));

// node_modules/yauzl/fd-slicer.js
var require_fd_slicer = /* @__PURE__ */ __commonJSMin(((exports) => {
	var fs = __require("fs");
	var util = __require("util");
	var stream = __require("stream");
	var Readable = stream.Readable;
	var PassThrough = stream.PassThrough;
	var Pend = require_pend();
	var EventEmitter = __require("events").EventEmitter;
	exports.BufferSlicer = BufferSlicer;
	exports.FdSlicer = FdSlicer;
	util.inherits(FdSlicer, EventEmitter);
	function FdSlicer(fd) {
		EventEmitter.call(this);
		this.fd = fd;
		this.pend = new Pend();
		this.pend.max = 1;
		this.refCount = 0;
	}
	FdSlicer.prototype.read = function(buffer, offset, length, position, callback) {
		var self = this;
		self.pend.go(function(cb) {
			fs.read(self.fd, buffer, offset, length, position, function(err, bytesRead, buffer) {
				cb();
				callback(err, bytesRead, buffer);
			});
		});
	};
	FdSlicer.prototype.createReadStream = function(options) {
		return new ReadStream(this, options);
	};
	FdSlicer.prototype.ref = function() {
		this.refCount += 1;
	};
	FdSlicer.prototype.unref = function() {
		var self = this;
		self.refCount -= 1;
		if (self.refCount < 0) throw new Error("invalid unref");
		if (self.refCount > 0) return;
		fs.close(self.fd, onCloseDone);
		function onCloseDone(err) {
			if (err) self.emit("error", err);
			else self.emit("close");
		}
	};
	util.inherits(ReadStream, Readable);
	function ReadStream(context, options) {
		options = options || {};
		Readable.call(this, options);
		this.context = context;
		this.context.ref();
		this.start = options.start || 0;
		this.endOffset = options.end;
		this.pos = this.start;
	}
	ReadStream.prototype._read = function(n) {
		var self = this;
		var toRead = Math.min(self._readableState.highWaterMark, n);
		if (self.endOffset != null) toRead = Math.min(toRead, self.endOffset - self.pos);
		if (toRead <= 0) {
			self.push(null);
			this._cleanup();
			return;
		}
		self.context.pend.go(function(cb) {
			var buffer = Buffer.allocUnsafe(toRead);
			fs.read(self.context.fd, buffer, 0, toRead, self.pos, function(err, bytesRead) {
				if (err) self.destroy(err);
				else if (bytesRead === 0) {
					self.push(null);
					self._cleanup();
				} else {
					self.pos += bytesRead;
					self.push(buffer.slice(0, bytesRead));
				}
				cb();
			});
		});
	};
	ReadStream.prototype._destroy = function(err, cb) {
		this._cleanup();
		cb(err);
	};
	ReadStream.prototype._cleanup = function() {
		if (this.context != null) {
			this.context.unref();
			this.context = null;
		}
	};
	util.inherits(BufferSlicer, EventEmitter);
	function BufferSlicer(buffer) {
		EventEmitter.call(this);
		this.refCount = 0;
		this.buffer = buffer;
	}
	BufferSlicer.prototype.read = function(buffer, offset, length, position, callback) {
		if (!(0 <= offset && offset <= buffer.length)) throw new RangeError("offset outside buffer: 0 <= " + offset + " <= " + buffer.length);
		if (position < 0) throw new RangeError("position is negative: " + position);
		if (offset + length > buffer.length) length = buffer.length - offset;
		if (position + length > this.buffer.length) length = this.buffer.length - position;
		if (length <= 0) {
			setImmediate(function() {
				callback(null, 0);
			});
			return;
		}
		this.buffer.copy(buffer, offset, position, position + length);
		setImmediate(function() {
			callback(null, length);
		});
	};
	BufferSlicer.prototype.createReadStream = function(options) {
		options = options || {};
		var readStream = new PassThrough(options);
		readStream.start = options.start || 0;
		readStream.endOffset = options.end;
		readStream.pos = readStream.endOffset || this.buffer.length;
		var entireSlice = this.buffer.slice(readStream.start, readStream.pos);
		var maxChunkSize = 65536;
		var offset = 0;
		while (true) {
			var nextOffset = offset + maxChunkSize;
			if (nextOffset >= entireSlice.length) {
				if (offset < entireSlice.length) readStream.write(entireSlice.slice(offset, entireSlice.length));
				break;
			}
			readStream.write(entireSlice.slice(offset, nextOffset));
			offset = nextOffset;
		}
		readStream.end();
		return readStream;
	};
	BufferSlicer.prototype.ref = function() {
		this.refCount += 1;
	};
	BufferSlicer.prototype.unref = function() {
		this.refCount -= 1;
		if (this.refCount < 0) throw new Error("invalid unref");
	};
}));

// node_modules/yauzl/crc32.js
var require_crc32 = /* @__PURE__ */ __commonJSMin(((exports, module) => {
	const CRC_TABLE = new Int32Array([
		0,
		1996959894,
		3993919788,
		2567524794,
		124634137,
		1886057615,
		3915621685,
		2657392035,
		249268274,
		2044508324,
		3772115230,
		2547177864,
		162941995,
		2125561021,
		3887607047,
		2428444049,
		498536548,
		1789927666,
		4089016648,
		2227061214,
		450548861,
		1843258603,
		4107580753,
		2211677639,
		325883990,
		1684777152,
		4251122042,
		2321926636,
		335633487,
		1661365465,
		4195302755,
		2366115317,
		997073096,
		1281953886,
		3579855332,
		2724688242,
		1006888145,
		1258607687,
		3524101629,
		2768942443,
		901097722,
		1119000684,
		3686517206,
		2898065728,
		853044451,
		1172266101,
		3705015759,
		2882616665,
		651767980,
		1373503546,
		3369554304,
		3218104598,
		565507253,
		1454621731,
		3485111705,
		3099436303,
		671266974,
		1594198024,
		3322730930,
		2970347812,
		795835527,
		1483230225,
		3244367275,
		3060149565,
		1994146192,
		31158534,
		2563907772,
		4023717930,
		1907459465,
		112637215,
		2680153253,
		3904427059,
		2013776290,
		251722036,
		2517215374,
		3775830040,
		2137656763,
		141376813,
		2439277719,
		3865271297,
		1802195444,
		476864866,
		2238001368,
		4066508878,
		1812370925,
		453092731,
		2181625025,
		4111451223,
		1706088902,
		314042704,
		2344532202,
		4240017532,
		1658658271,
		366619977,
		2362670323,
		4224994405,
		1303535960,
		984961486,
		2747007092,
		3569037538,
		1256170817,
		1037604311,
		2765210733,
		3554079995,
		1131014506,
		879679996,
		2909243462,
		3663771856,
		1141124467,
		855842277,
		2852801631,
		3708648649,
		1342533948,
		654459306,
		3188396048,
		3373015174,
		1466479909,
		544179635,
		3110523913,
		3462522015,
		1591671054,
		702138776,
		2966460450,
		3352799412,
		1504918807,
		783551873,
		3082640443,
		3233442989,
		3988292384,
		2596254646,
		62317068,
		1957810842,
		3939845945,
		2647816111,
		81470997,
		1943803523,
		3814918930,
		2489596804,
		225274430,
		2053790376,
		3826175755,
		2466906013,
		167816743,
		2097651377,
		4027552580,
		2265490386,
		503444072,
		1762050814,
		4150417245,
		2154129355,
		426522225,
		1852507879,
		4275313526,
		2312317920,
		282753626,
		1742555852,
		4189708143,
		2394877945,
		397917763,
		1622183637,
		3604390888,
		2714866558,
		953729732,
		1340076626,
		3518719985,
		2797360999,
		1068828381,
		1219638859,
		3624741850,
		2936675148,
		906185462,
		1090812512,
		3747672003,
		2825379669,
		829329135,
		1181335161,
		3412177804,
		3160834842,
		628085408,
		1382605366,
		3423369109,
		3138078467,
		570562233,
		1426400815,
		3317316542,
		2998733608,
		733239954,
		1555261956,
		3268935591,
		3050360625,
		752459403,
		1541320221,
		2607071920,
		3965973030,
		1969922972,
		40735498,
		2617837225,
		3943577151,
		1913087877,
		83908371,
		2512341634,
		3803740692,
		2075208622,
		213261112,
		2463272603,
		3855990285,
		2094854071,
		198958881,
		2262029012,
		4057260610,
		1759359992,
		534414190,
		2176718541,
		4139329115,
		1873836001,
		414664567,
		2282248934,
		4279200368,
		1711684554,
		285281116,
		2405801727,
		4167216745,
		1634467795,
		376229701,
		2685067896,
		3608007406,
		1308918612,
		956543938,
		2808555105,
		3495958263,
		1231636301,
		1047427035,
		2932959818,
		3654703836,
		1088359270,
		936918e3,
		2847714899,
		3736837829,
		1202900863,
		817233897,
		3183342108,
		3401237130,
		1404277552,
		615818150,
		3134207493,
		3453421203,
		1423857449,
		601450431,
		3009837614,
		3294710456,
		1567103746,
		711928724,
		3020668471,
		3272380065,
		1510334235,
		755167117
	]);
	function crc32(buf) {
		let crc = -1;
		for (let x of buf) crc = CRC_TABLE[(crc ^ x) & 255] ^ crc >>> 8;
		return (crc ^ -1) >>> 0;
	}
	module.exports = crc32;
}));

// node_modules/yauzl/index.js
var require_yauzl = /* @__PURE__ */ __commonJSMin(((exports) => {
	var fs = __require("fs");
	var zlib = __require("zlib");
	var fd_slicer = require_fd_slicer();
	var util = __require("util");
	var EventEmitter = __require("events").EventEmitter;
	var Transform = __require("stream").Transform;
	var PassThrough = __require("stream").PassThrough;
	var Writable = __require("stream").Writable;
	const crc32 = typeof zlib.crc32 === "function" ? zlib.crc32 : require_crc32();
	exports.fromBufferPromise = fromBufferPromise;
	function fromBufferPromise(buffer, options) {
		return new Promise((resolve, reject) => {
			fromBuffer(buffer, {
				...options,
				lazyEntries: true
			}, function(err, zipfile) {
				if (err) return reject(err);
				resolve(zipfile);
			});
		});
	}
	function fromBuffer(buffer, options, callback) {
		if (typeof options === "function") {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		options.autoClose = false;
		if (options.lazyEntries == null) options.lazyEntries = false;
		if (options.decodeStrings == null) options.decodeStrings = true;
		if (options.validateEntrySizes == null) options.validateEntrySizes = true;
		if (options.strictFileNames == null) options.strictFileNames = false;
		fromRandomAccessReader(new fd_slicer.BufferSlicer(buffer), buffer.length, options, callback);
	}
	function fromRandomAccessReader(reader, totalSize, options, callback) {
		if (typeof options === "function") {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		if (options.autoClose == null) options.autoClose = true;
		if (options.lazyEntries == null) options.lazyEntries = false;
		if (options.decodeStrings == null) options.decodeStrings = true;
		var decodeStrings = !!options.decodeStrings;
		if (options.validateEntrySizes == null) options.validateEntrySizes = true;
		if (options.strictFileNames == null) options.strictFileNames = false;
		if (callback == null) callback = defaultCallback;
		if (typeof totalSize !== "number") throw new Error("expected totalSize parameter to be a number");
		if (totalSize > Number.MAX_SAFE_INTEGER) throw new Error("zip file too large. only file sizes up to 2^52 are supported due to JavaScript's Number type being an IEEE 754 double.");
		reader.ref();
		var eocdrWithoutCommentSize = 22;
		var zip64EocdlSize = 20;
		var bufferSize = Math.min(zip64EocdlSize + eocdrWithoutCommentSize + 65535, totalSize);
		var buffer = newBuffer(bufferSize);
		readAndAssertNoEof(reader, buffer, 0, bufferSize, totalSize - buffer.length, function(err) {
			if (err) return callback(err);
			for (var i = bufferSize - eocdrWithoutCommentSize; i >= 0; i -= 1) {
				if (buffer.readUInt32LE(i) !== 101010256) continue;
				var eocdrBuffer = buffer.subarray(i);
				var diskNumber = eocdrBuffer.readUInt16LE(4);
				var entryCount = eocdrBuffer.readUInt16LE(10);
				var centralDirectoryOffset = eocdrBuffer.readUInt32LE(16);
				var commentLength = eocdrBuffer.readUInt16LE(20);
				var expectedCommentLength = eocdrBuffer.length - eocdrWithoutCommentSize;
				if (commentLength !== expectedCommentLength) return callback(/* @__PURE__ */ new Error("Invalid comment length. Expected: " + expectedCommentLength + ". Found: " + commentLength + ". Are there extra bytes at the end of the file? Or is the end of central dir signature `PK☺☻` in the comment?"));
				var comment = decodeStrings ? decodeBuffer(eocdrBuffer.subarray(22), false) : eocdrBuffer.subarray(22);
				if (i - zip64EocdlSize >= 0 && buffer.readUInt32LE(i - zip64EocdlSize) === 117853008) {
					var zip64EocdrOffset = readUInt64LE(buffer.subarray(i - zip64EocdlSize, i - zip64EocdlSize + zip64EocdlSize), 8);
					var zip64EocdrBuffer = newBuffer(56);
					return readAndAssertNoEof(reader, zip64EocdrBuffer, 0, zip64EocdrBuffer.length, zip64EocdrOffset, function(err) {
						if (err) return callback(err);
						if (zip64EocdrBuffer.readUInt32LE(0) !== 101075792) return callback(/* @__PURE__ */ new Error("invalid zip64 end of central directory record signature"));
						diskNumber = zip64EocdrBuffer.readUInt32LE(16);
						if (diskNumber !== 0) return callback(/* @__PURE__ */ new Error("multi-disk zip files are not supported: found disk number: " + diskNumber));
						entryCount = readUInt64LE(zip64EocdrBuffer, 32);
						centralDirectoryOffset = readUInt64LE(zip64EocdrBuffer, 48);
						return callback(null, new ZipFile(reader, centralDirectoryOffset, totalSize, entryCount, comment, options.autoClose, options.lazyEntries, decodeStrings, options.validateEntrySizes, options.strictFileNames));
					});
				}
				if (diskNumber !== 0) return callback(/* @__PURE__ */ new Error("multi-disk zip files are not supported: found disk number: " + diskNumber));
				return callback(null, new ZipFile(reader, centralDirectoryOffset, totalSize, entryCount, comment, options.autoClose, options.lazyEntries, decodeStrings, options.validateEntrySizes, options.strictFileNames));
			}
			callback(/* @__PURE__ */ new Error("End of central directory record signature not found. Either not a zip file, or file is truncated."));
		});
	}
	util.inherits(ZipFile, EventEmitter);
	function ZipFile(reader, centralDirectoryOffset, fileSize, entryCount, comment, autoClose, lazyEntries, decodeStrings, validateEntrySizes, strictFileNames) {
		var self = this;
		EventEmitter.call(self);
		self.reader = reader;
		self.reader.on("error", function(err) {
			emitError(self, err);
		});
		self.reader.once("close", function() {
			self.emit("close");
		});
		self.readEntryCursor = centralDirectoryOffset;
		self.fileSize = fileSize;
		self.entryCount = entryCount;
		self.comment = comment;
		self.entriesRead = 0;
		self.autoClose = !!autoClose;
		self.lazyEntries = !!lazyEntries;
		self.decodeStrings = !!decodeStrings;
		self.validateEntrySizes = !!validateEntrySizes;
		self.strictFileNames = !!strictFileNames;
		self.isOpen = true;
		self.emittedError = false;
		self.hasEachEntryBeenCalled = false;
		if (!self.lazyEntries) self._readEntry();
	}
	ZipFile.prototype.close = function() {
		if (!this.isOpen) return;
		this.isOpen = false;
		this.reader.unref();
	};
	function emitErrorAndAutoClose(self, err) {
		if (self.autoClose) self.close();
		emitError(self, err);
	}
	function emitError(self, err) {
		if (self.emittedError) return;
		self.emittedError = true;
		self.emit("error", err);
	}
	ZipFile.prototype.readEntry = function() {
		if (!this.lazyEntries) throw new Error("readEntry() called without lazyEntries:true");
		this._readEntry();
	};
	ZipFile.prototype._readEntry = function() {
		var self = this;
		if (self.entryCount === self.entriesRead) {
			setImmediate(function() {
				if (self.autoClose) self.close();
				if (self.emittedError) return;
				self.emit("end");
			});
			return;
		}
		if (self.emittedError) return;
		var buffer = newBuffer(46);
		readAndAssertNoEof(self.reader, buffer, 0, buffer.length, self.readEntryCursor, function(err) {
			if (err) return emitErrorAndAutoClose(self, err);
			if (self.emittedError) return;
			var entry = new Entry();
			var signature = buffer.readUInt32LE(0);
			if (signature !== 33639248) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("invalid central directory file header signature: 0x" + signature.toString(16)));
			entry.versionMadeBy = buffer.readUInt16LE(4);
			entry.versionNeededToExtract = buffer.readUInt16LE(6);
			entry.generalPurposeBitFlag = buffer.readUInt16LE(8);
			entry.compressionMethod = buffer.readUInt16LE(10);
			entry.lastModFileTime = buffer.readUInt16LE(12);
			entry.lastModFileDate = buffer.readUInt16LE(14);
			entry.crc32 = buffer.readUInt32LE(16);
			entry.compressedSize = buffer.readUInt32LE(20);
			entry.uncompressedSize = buffer.readUInt32LE(24);
			entry.fileNameLength = buffer.readUInt16LE(28);
			entry.extraFieldLength = buffer.readUInt16LE(30);
			entry.fileCommentLength = buffer.readUInt16LE(32);
			entry.internalFileAttributes = buffer.readUInt16LE(36);
			entry.externalFileAttributes = buffer.readUInt32LE(38);
			entry.relativeOffsetOfLocalHeader = buffer.readUInt32LE(42);
			if (entry.generalPurposeBitFlag & 64) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("strong encryption is not supported"));
			self.readEntryCursor += 46;
			buffer = newBuffer(entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength);
			readAndAssertNoEof(self.reader, buffer, 0, buffer.length, self.readEntryCursor, function(err) {
				if (err) return emitErrorAndAutoClose(self, err);
				if (self.emittedError) return;
				entry.fileNameRaw = buffer.subarray(0, entry.fileNameLength);
				var fileCommentStart = entry.fileNameLength + entry.extraFieldLength;
				entry.extraFieldRaw = buffer.subarray(entry.fileNameLength, fileCommentStart);
				entry.fileCommentRaw = buffer.subarray(fileCommentStart, fileCommentStart + entry.fileCommentLength);
				try {
					entry.extraFields = parseExtraFields(entry.extraFieldRaw);
				} catch (err) {
					return emitErrorAndAutoClose(self, err);
				}
				if (self.decodeStrings) {
					var isUtf8 = (entry.generalPurposeBitFlag & 2048) !== 0;
					entry.fileComment = decodeBuffer(entry.fileCommentRaw, isUtf8);
					entry.fileName = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, self.strictFileNames);
					var errorMessage = validateFileName(entry.fileName);
					if (errorMessage != null) return emitErrorAndAutoClose(self, new Error(errorMessage));
				} else {
					entry.fileComment = entry.fileCommentRaw;
					entry.fileName = entry.fileNameRaw;
				}
				entry.comment = entry.fileComment;
				self.readEntryCursor += buffer.length;
				self.entriesRead += 1;
				for (var i = 0; i < entry.extraFields.length; i++) {
					var extraField = entry.extraFields[i];
					if (extraField.id !== 1) continue;
					var zip64EiefBuffer = extraField.data;
					var index = 0;
					if (entry.uncompressedSize === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include uncompressed size"));
						entry.uncompressedSize = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					if (entry.compressedSize === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include compressed size"));
						entry.compressedSize = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					if (entry.relativeOffsetOfLocalHeader === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include relative header offset"));
						entry.relativeOffsetOfLocalHeader = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					break;
				}
				if (self.validateEntrySizes && entry.compressionMethod === 0) {
					var expectedCompressedSize = entry.uncompressedSize;
					if (entry.isEncrypted()) expectedCompressedSize += 12;
					if (entry.compressedSize !== expectedCompressedSize) {
						var msg = "compressed/uncompressed size mismatch for stored file: " + entry.compressedSize + " != " + entry.uncompressedSize;
						return emitErrorAndAutoClose(self, new Error(msg));
					}
				}
				self.emit("entry", entry);
				if (!self.lazyEntries) self._readEntry();
			});
		});
	};
	ZipFile.prototype.eachEntry = function() {
		const self = this;
		if (!self.lazyEntries) throw new Error("eachEntry() requires lazyEntries: true");
		if (self.hasEachEntryBeenCalled) throw new Error("eachEntry() must only be called once per ZipFile");
		self.hasEachEntryBeenCalled = true;
		let pendingResolveReject = null;
		self.on("entry", onEntry);
		self.on("end", onEnd);
		self.on("error", onError);
		function cleanup() {
			self.removeListener("entry", onEntry);
			self.removeListener("end", onEnd);
			self.removeListener("error", onError);
			if (self.autoClose) self.close();
		}
		function onEntry(entry) {
			let { resolve } = pendingResolveReject;
			pendingResolveReject = null;
			resolve({ value: entry });
		}
		function onEnd() {
			let { resolve } = pendingResolveReject;
			pendingResolveReject = null;
			cleanup();
			resolve({ done: true });
		}
		function onError(err) {
			let { reject } = pendingResolveReject;
			pendingResolveReject = null;
			cleanup();
			reject(err);
		}
		return {
			[Symbol.asyncIterator]() {
				return this;
			},
			next() {
				const promise = new Promise((resolve, reject) => {
					if (pendingResolveReject != null) throw new Error("next() called before previous Promise was resolved.");
					pendingResolveReject = {
						resolve,
						reject
					};
				});
				self.readEntry();
				return promise;
			},
			return(value) {
				cleanup();
				return Promise.resolve({
					done: true,
					value
				});
			},
			throw(value) {
				cleanup();
				return Promise.reject(value);
			}
		};
	};
	ZipFile.prototype.openReadStream = function(entry, options, callback) {
		var self = this;
		var relativeStart = 0;
		var relativeEnd = entry.compressedSize;
		if (callback == null) {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		else {
			if (options.decodeFileData === false) {
				if (options.decrypt != null) throw new Error("cannot use options.decrypt when options.decodeFileData === false");
				if (options.decompress != null) throw new Error("cannot use options.decompress when options.decodeFileData === false");
			} else {
				if (options.decrypt != null) {
					if (!entry.isEncrypted()) throw new Error("options.decrypt can only be specified for encrypted entries. See also option decodeFileData.");
					if (options.decrypt !== false) throw new Error("invalid options.decrypt value: " + options.decrypt);
					if (entry.isCompressed()) {
						if (options.decompress !== false) throw new Error("entry is encrypted and compressed, and options.decompress !== false. See also option decodeFileData.");
					}
				}
				if (options.decompress != null) {
					if (!entry.isCompressed()) throw new Error("options.decompress can only be specified for compressed entries. See also option decodeFileData.");
					if (!(options.decompress === false || options.decompress === true)) throw new Error("invalid options.decompress value: " + options.decompress);
					decompress = options.decompress;
				}
			}
			if (options.start != null) {
				relativeStart = options.start;
				if (relativeStart < 0) throw new Error("options.start < 0");
				if (relativeStart > entry.compressedSize) throw new Error("options.start > entry.compressedSize");
			}
			if (options.end != null) {
				relativeEnd = options.end;
				if (relativeEnd < 0) throw new Error("options.end < 0");
				if (relativeEnd > entry.compressedSize) throw new Error("options.end > entry.compressedSize");
				if (relativeEnd < relativeStart) throw new Error("options.end < options.start");
			}
		}
		var rawMode = options.decodeFileData === false || (entry.compressionMethod === 0 || entry.compressionMethod === 8 && options.decompress === false) && (!entry.isEncrypted() || options.decrypt === false);
		if (options.start != null || options.end != null) {
			if (!rawMode) throw new Error("start/end range require options.decodeFileData === false for non-trivial encoded entries.");
		}
		if (!self.isOpen) return callback(/* @__PURE__ */ new Error("closed"));
		if (entry.isEncrypted() && !rawMode) {
			if (options.decrypt !== false) return callback(/* @__PURE__ */ new Error("entry is encrypted, and options.decodeFileData !== false"));
		}
		var decompress;
		if (rawMode) decompress = false;
		else if (entry.compressionMethod === 8) decompress = options.decodeFileData !== true;
		else return callback(/* @__PURE__ */ new Error("unsupported compression method: " + entry.compressionMethod));
		self.readLocalFileHeader(entry, { minimal: true }, function(err, localFileHeader) {
			if (err) return callback(err);
			self.openReadStreamLowLevel(localFileHeader.fileDataStart, entry.compressedSize, relativeStart, relativeEnd, decompress, entry.uncompressedSize, callback);
		});
	};
	ZipFile.prototype.openReadStreamLowLevel = function(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize, callback) {
		var self = this;
		fileDataStart + compressedSize;
		var readStream = self.reader.createReadStream({
			start: fileDataStart + relativeStart,
			end: fileDataStart + relativeEnd
		});
		var endpointStream = readStream;
		if (decompress) {
			var destroyed = false;
			var inflateFilter = zlib.createInflateRaw();
			readStream.on("error", function(err) {
				setImmediate(function() {
					if (!destroyed) inflateFilter.emit("error", err);
				});
			});
			readStream.pipe(inflateFilter);
			if (self.validateEntrySizes) {
				endpointStream = new AssertByteCountStream(uncompressedSize);
				inflateFilter.on("error", function(err) {
					setImmediate(function() {
						if (!destroyed) endpointStream.emit("error", err);
					});
				});
				inflateFilter.pipe(endpointStream);
			} else endpointStream = inflateFilter;
			installDestroyFn(endpointStream, function() {
				destroyed = true;
				if (inflateFilter !== endpointStream) inflateFilter.unpipe(endpointStream);
				readStream.unpipe(inflateFilter);
				readStream.destroy();
			});
		}
		callback(null, endpointStream);
	};
	ZipFile.prototype.readLocalFileHeader = function(entry, options, callback) {
		var self = this;
		if (callback == null) {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		self.reader.ref();
		var buffer = newBuffer(30);
		readAndAssertNoEof(self.reader, buffer, 0, buffer.length, entry.relativeOffsetOfLocalHeader, function(err) {
			try {
				if (err) return callback(err);
				var signature = buffer.readUInt32LE(0);
				if (signature !== 67324752) return callback(/* @__PURE__ */ new Error("invalid local file header signature: 0x" + signature.toString(16)));
				var fileNameLength = buffer.readUInt16LE(26);
				var extraFieldLength = buffer.readUInt16LE(28);
				var fileDataStart = entry.relativeOffsetOfLocalHeader + 30 + fileNameLength + extraFieldLength;
				if (fileDataStart + entry.compressedSize > self.fileSize) return callback(/* @__PURE__ */ new Error("file data overflows file bounds: " + fileDataStart + " + " + entry.compressedSize + " > " + self.fileSize));
				if (options.minimal) return callback(null, { fileDataStart });
				var localFileHeader = new LocalFileHeader();
				localFileHeader.fileDataStart = fileDataStart;
				localFileHeader.versionNeededToExtract = buffer.readUInt16LE(4);
				localFileHeader.generalPurposeBitFlag = buffer.readUInt16LE(6);
				localFileHeader.compressionMethod = buffer.readUInt16LE(8);
				localFileHeader.lastModFileTime = buffer.readUInt16LE(10);
				localFileHeader.lastModFileDate = buffer.readUInt16LE(12);
				localFileHeader.crc32 = buffer.readUInt32LE(14);
				localFileHeader.compressedSize = buffer.readUInt32LE(18);
				localFileHeader.uncompressedSize = buffer.readUInt32LE(22);
				localFileHeader.fileNameLength = fileNameLength;
				localFileHeader.extraFieldLength = extraFieldLength;
				buffer = newBuffer(fileNameLength + extraFieldLength);
				self.reader.ref();
				readAndAssertNoEof(self.reader, buffer, 0, buffer.length, entry.relativeOffsetOfLocalHeader + 30, function(err) {
					try {
						if (err) return callback(err);
						localFileHeader.fileName = buffer.subarray(0, fileNameLength);
						localFileHeader.extraField = buffer.subarray(fileNameLength);
						return callback(null, localFileHeader);
					} finally {
						self.reader.unref();
					}
				});
			} finally {
				self.reader.unref();
			}
		});
	};
	ZipFile.prototype.openReadStreamPromise = function(entry, options) {
		return new Promise((resolve, reject) => {
			this.openReadStream(entry, options, function(err, readStream) {
				if (err) return reject(err);
				resolve(readStream);
			});
		});
	};
	ZipFile.prototype.openReadStreamLowLevelPromise = function(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize) {
		return new Promise((resolve, reject) => {
			this.openReadStream(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize, function(err, readStream) {
				if (err) return reject(err);
				resolve(readStream);
			});
		});
	};
	ZipFile.prototype.readLocalFileHeaderPromise = function(entry, options) {
		return new Promise((resolve, reject) => {
			this.readLocalFileHeader(entry, options, function(err, localFileHeader) {
				if (err) return reject(err);
				resolve(localFileHeader);
			});
		});
	};
	function Entry() {}
	Entry.prototype.getLastModDate = function(options) {
		if (options == null) options = {};
		if (!options.forceDosFormat) for (var i = 0; i < this.extraFields.length; i++) {
			var extraField = this.extraFields[i];
			if (extraField.id === 21589) {
				var data = extraField.data;
				if (data.length < 5) continue;
				if (!(data[0] & 1)) continue;
				var posixTimestamp = data.readInt32LE(1);
				return /* @__PURE__ */ new Date(posixTimestamp * 1e3);
			} else if (extraField.id === 10) {
				var data = extraField.data;
				if (data.length !== 32) continue;
				if (data.readUInt16LE(4) !== 1) continue;
				if (data.readUInt16LE(6) !== 24) continue;
				var millisecondsSince1970 = (data.readUInt32LE(8) + 4294967296 * data.readInt32LE(12)) / 1e4 - 0xa9730b66800;
				return new Date(millisecondsSince1970);
			}
		}
		return dosDateTimeToDate(this.lastModFileDate, this.lastModFileTime, options.timezone);
	};
	Entry.prototype.canDecodeFileData = function() {
		return !this.isEncrypted() && (this.compressionMethod === 0 || this.compressionMethod === 8);
	};
	Entry.prototype.isEncrypted = function() {
		return (this.generalPurposeBitFlag & 1) !== 0;
	};
	Entry.prototype.isCompressed = function() {
		return this.compressionMethod === 8;
	};
	function LocalFileHeader() {}
	function dosDateTimeToDate(date, time, timezone) {
		var day = date & 31;
		var month = (date >> 5 & 15) - 1;
		var year = (date >> 9 & 127) + 1980;
		var millisecond = 0;
		var second = (time & 31) * 2;
		var minute = time >> 5 & 63;
		var hour = time >> 11 & 31;
		if (timezone == null || timezone === "local") return new Date(year, month, day, hour, minute, second, millisecond);
		else if (timezone === "UTC") return new Date(Date.UTC(year, month, day, hour, minute, second, millisecond));
		else throw new Error("unrecognized options.timezone: " + options.timezone);
	}
	function getFileNameLowLevel(generalPurposeBitFlag, fileNameBuffer, extraFields, strictFileNames) {
		var fileName = null;
		for (var i = 0; i < extraFields.length; i++) {
			var extraField = extraFields[i];
			if (extraField.id === 28789) {
				if (extraField.data.length < 6) continue;
				if (extraField.data.readUInt8(0) !== 1) continue;
				var oldNameCrc32 = extraField.data.readUInt32LE(1);
				if (crc32(fileNameBuffer) !== oldNameCrc32) continue;
				fileName = decodeBuffer(extraField.data.subarray(5), true);
				break;
			}
		}
		if (fileName == null) fileName = decodeBuffer(fileNameBuffer, (generalPurposeBitFlag & 2048) !== 0);
		if (!strictFileNames) fileName = fileName.replace(/\\/g, "/");
		return fileName;
	}
	function validateFileName(fileName) {
		if (fileName.indexOf("\\") !== -1) return "invalid characters in fileName: " + fileName;
		if (/^[a-zA-Z]:/.test(fileName) || /^\//.test(fileName)) return "absolute path: " + fileName;
		if (fileName.split("/").indexOf("..") !== -1) return "invalid relative path: " + fileName;
		return null;
	}
	function parseExtraFields(extraFieldBuffer) {
		var extraFields = [];
		var i = 0;
		while (i < extraFieldBuffer.length - 3) {
			var headerId = extraFieldBuffer.readUInt16LE(i + 0);
			var dataSize = extraFieldBuffer.readUInt16LE(i + 2);
			var dataStart = i + 4;
			var dataEnd = dataStart + dataSize;
			if (dataEnd > extraFieldBuffer.length) throw new Error("extra field length exceeds extra field buffer size");
			var dataBuffer = extraFieldBuffer.subarray(dataStart, dataEnd);
			extraFields.push({
				id: headerId,
				data: dataBuffer
			});
			i = dataEnd;
		}
		return extraFields;
	}
	function readAndAssertNoEof(reader, buffer, offset, length, position, callback) {
		if (length === 0) return setImmediate(function() {
			callback(null, newBuffer(0));
		});
		reader.read(buffer, offset, length, position, function(err, bytesRead) {
			if (err) return callback(err);
			if (bytesRead < length) return callback(/* @__PURE__ */ new Error("unexpected EOF"));
			callback();
		});
	}
	util.inherits(AssertByteCountStream, Transform);
	function AssertByteCountStream(byteCount) {
		Transform.call(this);
		this.actualByteCount = 0;
		this.expectedByteCount = byteCount;
	}
	AssertByteCountStream.prototype._transform = function(chunk, encoding, cb) {
		this.actualByteCount += chunk.length;
		if (this.actualByteCount > this.expectedByteCount) {
			var msg = "too many bytes in the stream. expected " + this.expectedByteCount + ". got at least " + this.actualByteCount;
			return cb(new Error(msg));
		}
		cb(null, chunk);
	};
	AssertByteCountStream.prototype._flush = function(cb) {
		if (this.actualByteCount < this.expectedByteCount) {
			var msg = "not enough bytes in the stream. expected " + this.expectedByteCount + ". got only " + this.actualByteCount;
			return cb(new Error(msg));
		}
		cb();
	};
	util.inherits(RandomAccessReader, EventEmitter);
	function RandomAccessReader() {
		EventEmitter.call(this);
		this.refCount = 0;
	}
	RandomAccessReader.prototype.ref = function() {
		this.refCount += 1;
	};
	RandomAccessReader.prototype.unref = function() {
		var self = this;
		self.refCount -= 1;
		if (self.refCount > 0) return;
		if (self.refCount < 0) throw new Error("invalid unref");
		self.close(onCloseDone);
		function onCloseDone(err) {
			if (err) return self.emit("error", err);
			self.emit("close");
		}
	};
	RandomAccessReader.prototype.createReadStream = function(options) {
		if (options == null) options = {};
		var start = options.start;
		var end = options.end;
		if (start === end) {
			var emptyStream = new PassThrough();
			setImmediate(function() {
				emptyStream.end();
			});
			return emptyStream;
		}
		var stream = this._readStreamForRange(start, end);
		var destroyed = false;
		var refUnrefFilter = new RefUnrefFilter(this);
		stream.on("error", function(err) {
			setImmediate(function() {
				if (!destroyed) refUnrefFilter.emit("error", err);
			});
		});
		installDestroyFn(refUnrefFilter, function() {
			stream.unpipe(refUnrefFilter);
			refUnrefFilter.unref();
			stream.destroy();
		});
		var byteCounter = new AssertByteCountStream(end - start);
		refUnrefFilter.on("error", function(err) {
			setImmediate(function() {
				if (!destroyed) byteCounter.emit("error", err);
			});
		});
		installDestroyFn(byteCounter, function() {
			destroyed = true;
			refUnrefFilter.unpipe(byteCounter);
			refUnrefFilter.destroy();
		});
		return stream.pipe(refUnrefFilter).pipe(byteCounter);
	};
	RandomAccessReader.prototype._readStreamForRange = function(start, end) {
		throw new Error("not implemented");
	};
	RandomAccessReader.prototype.read = function(buffer, offset, length, position, callback) {
		var readStream = this.createReadStream({
			start: position,
			end: position + length
		});
		var writeStream = new Writable();
		var written = 0;
		writeStream._write = function(chunk, encoding, cb) {
			chunk.copy(buffer, offset + written, 0, chunk.length);
			written += chunk.length;
			cb();
		};
		writeStream.on("finish", callback);
		readStream.on("error", function(error) {
			callback(error);
		});
		readStream.pipe(writeStream);
	};
	RandomAccessReader.prototype.close = function(callback) {
		setImmediate(callback);
	};
	util.inherits(RefUnrefFilter, PassThrough);
	function RefUnrefFilter(context) {
		PassThrough.call(this);
		this.context = context;
		this.context.ref();
		this.unreffedYet = false;
	}
	RefUnrefFilter.prototype._flush = function(cb) {
		this.unref();
		cb();
	};
	RefUnrefFilter.prototype.unref = function(cb) {
		if (this.unreffedYet) return;
		this.unreffedYet = true;
		this.context.unref();
	};
	var cp437 = "\0☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼ !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~⌂ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xA0";
	function decodeBuffer(buffer, isUtf8) {
		if (isUtf8) return buffer.toString("utf8");
		else {
			var result = "";
			for (var i = 0; i < buffer.length; i++) result += cp437[buffer[i]];
			return result;
		}
	}
	function readUInt64LE(buffer, offset) {
		var lower32 = buffer.readUInt32LE(offset);
		return buffer.readUInt32LE(offset + 4) * 4294967296 + lower32;
	}
	var newBuffer;
	if (typeof Buffer.allocUnsafe === "function") newBuffer = function(len) {
		return Buffer.allocUnsafe(len);
	};
	else newBuffer = function(len) {
		return new Buffer(len);
	};
	function installDestroyFn(stream, fn) {
		if (typeof stream.destroy === "function") stream._destroy = function(err, cb) {
			fn();
			if (cb != null) cb(err);
		};
		else stream.destroy = fn;
	}
	function defaultCallback(err) {
		if (err) throw err;
	}
}));

// src/publish/artifact.ts
var import_yauzl = require_yauzl();
const artifactLimits = {
	zipBytes: 200 * 1024 ** 2,
	fileBytes: 16 * 1024 ** 2,
	files: 2e4,
	seconds: 300
};
/**
* Downloads the newest artifact of this name of a workflow run: a re-run of its job leaves another one. Needs a token
* with `actions: read`, which GitHub gets to see and the host that it points to never does.
*/
async function fetchArtifact(octokit, wanted, limits = artifactLimits) {
	try {
		const artifact = await newestArtifact(octokit, wanted);
		if (artifact === void 0) return none(`${called(wanted)} does not exist: look whether the job that uploads it has run.`);
		if (artifact.expired) return none(`${called(wanted)} has expired: judge the patch again.`);
		if (artifact.size_in_bytes > limits.zipBytes) return refused(tooLarge(wanted, limits));
		return await download(await placeOf(octokit, wanted, artifact.id), wanted, limits);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return failed(whyNot(failure, wanted));
	}
}
const none = (why) => ({
	kind: "none",
	why
});
const refused = (why) => ({
	kind: "refused",
	why
});
const failed = (why) => ({
	kind: "failed",
	why
});
const called = ({ repository, runId, name }) => `The artifact ${name} of run ${runId} of ${repository}`;
const tooLarge = (wanted, { zipBytes }) => `${called(wanted)} has more than ${zipBytes} bytes and was left alone: upload the work directory only.`;
const ownerAndRepo = ({ repository }) => {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		owner,
		repo
	};
};
async function newestArtifact(octokit, wanted) {
	return (await octokit.paginate(octokit.rest.actions.listWorkflowRunArtifacts, {
		...ownerAndRepo(wanted),
		run_id: wanted.runId,
		name: wanted.name,
		per_page: 100
	})).filter(({ name }) => name === wanted.name).toSorted((a, b) => b.id - a.id).at(0);
}
/** Octokit would follow the redirect and read whatever comes into memory; so it is told not to. */
async function placeOf(octokit, wanted, id) {
	const { headers } = await octokit.rest.actions.downloadArtifact({
		...ownerAndRepo(wanted),
		artifact_id: id,
		archive_format: "zip",
		request: { redirect: "manual" }
	});
	return URL.parse(headers.location ?? "");
}
/** The place is a secret of its own for a minute, and is not named in full. */
async function download(place, wanted, limits) {
	if (place === null || !isTrusted(place)) return refused(`${called(wanted)} was not fetched because GitHub points to no https address for it: look whether the API's address is right.`);
	const again = "run the job again";
	try {
		const signal = AbortSignal.timeout(limits.seconds * 1e3);
		const response = await fetch(place, {
			redirect: "error",
			signal
		});
		if (response.status !== 200 || response.body === null) {
			await response.body?.cancel();
			return failed(`${called(wanted)} was not fetched because ${place.host} answered ${response.status}: ${again}.`);
		}
		const bytes = await bytesOf(response.body, limits.zipBytes);
		return bytes === void 0 ? refused(tooLarge(wanted, limits)) : {
			kind: "fetched",
			bytes
		};
	} catch (error) {
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		return failed(`${called(wanted)} was not fetched from ${place.host} (${reasonOf(cause)}): ${again}.`);
	}
}
/** Without TLS only from this machine, where tests serve it. */
const isTrusted = ({ protocol, hostname, username, password }) => (protocol === "https:" || protocol === "http:" && loopback.has(hostname)) && username === "" && password === "";
const loopback = /* @__PURE__ */ new Set(["127.0.0.1", "localhost"]);
/** Undefined for more than `mostBytes`: the connection is then closed, whatever its headers promised. */
async function bytesOf(body, mostBytes) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of body) {
		bytes += chunk.length;
		if (bytes > mostBytes) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
function whyNot(failure, wanted) {
	const what = `${called(wanted)} was not fetched`;
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): run the job again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: run the job again then.`;
	if (failure.status === 403) return `${what} because the token may not (${failure.said}): give the job \`permissions: actions: read\`.`;
	if (failure.status === 401) return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
	return `${what} because GitHub answered ${failure.said}: look whether the run and its artifact are still there.`;
}
/** The result in the text of a `result.json` that a stranger may have written. */
function parseResult(text) {
	try {
		if (commas(text) > mostCommas) throw new RangeError(`more than ${mostCommas} values`);
		return {
			kind: "read",
			result: resultSchema.parse(JSON.parse(text))
		};
	} catch {
		return refused("The result.json of the artifact is no result of this version of ppsgate: judge the patch again.");
	}
}
/** A result of 16 MiB as ppsgate writes it has fewer. */
const mostCommas = 5e5;
function commas(text) {
	let count = 0;
	for (const character of text) if (character === ",") count += 1;
	return count;
}
/**
* The files of these names out of a zip, as text, those that are there. They stand at the top or in one folder, those
* whose names have folders just there; of all other entries only the names are looked at. Nothing is written anywhere.
*/
async function readEntries(zip, names, limits = artifactLimits) {
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(names), limits);
		const texts = /* @__PURE__ */ new Map();
		for (const [name, entry] of entries) texts.set(name, await textOf({
			archive,
			zip,
			name,
			entry
		}, limits.fileBytes));
		return {
			kind: "read",
			texts
		};
	} catch (error) {
		return refusalOf(error);
	}
}
var Refusal = class extends Error {};
function refusalOf(error) {
	if (error instanceof Refusal) return refused(error.message);
	const [said] = reasonOf(error).split(/[.:]/);
	return refused(`The artifact is no zip that can be read (${said}): run its job again.`);
}
/** Of all profiles of one result; flamegraphs of more are not drawn. */
const mostProfileBytes = 64 * 1024 ** 2;
/** One of each variant in each cell: the longest experiments have some hundred. */
const mostProfiles = 500;
const tooManyBytes = `The profiles of the artifact have more than ${mostProfileBytes} bytes together: of the rest no flamegraphs are drawn.`;
/**
* The profiles that a result of the artifact tells of, which lie below `folder`; what cannot be read is left out, and
* `leftOut` hears why. The zip is gone through once, however many files are named.
*/
async function profilesIn(zip, result, folder, leftOut = () => {}) {
	const paths = profilePaths(result);
	if (paths.length > mostProfiles) {
		leftOut(`The result names ${paths.length} profiles, and at most ${mostProfiles} are read: no flamegraphs are drawn.`);
		return [];
	}
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(paths.map((path) => folder + path)), artifactLimits);
		let left = mostProfileBytes;
		const textAt = async (path) => {
			const name = folder + path;
			const entry = entries.get(name);
			if (entry === void 0) return void 0;
			const bytes = Math.min(left, artifactLimits.fileBytes);
			left -= bytes;
			try {
				if (bytes === 0) throw new Refusal(tooManyBytes);
				const text = await textOf({
					archive,
					zip,
					name,
					entry
				}, bytes);
				left += bytes - Math.min(bytes, text.length);
				return text;
			} catch (error) {
				leftOut(refusalOf(error).why);
				return;
			}
		};
		return await readProfiles(result, textAt, leftOut);
	} catch (error) {
		leftOut(refusalOf(error).why);
		return [];
	}
}
function profilePaths({ outcome }) {
	return (outcome.kind === "judged" ? outcome.cells : []).flatMap(({ profiles }) => profiles.flatMap((one) => one.kind === "profiled" ? one.file : []));
}
async function entriesOf(archive, names, { files }) {
	if (archive.entryCount > files) throw new Refusal(`The artifact says that it holds ${archive.entryCount} files, and at most ${files} are looked at: upload the work directory only.`);
	const found = /* @__PURE__ */ new Map();
	for await (const entry of archive.eachEntry()) {
		const path = entry.fileNameRaw.toString();
		const name = names.has(path) ? path : nameOf(path);
		if (name === void 0 || !names.has(name)) continue;
		if (found.has(name)) throw new Refusal(`The artifact holds more than one ${name}, and it is not told which one counts: upload one work directory.`);
		found.set(name, entry);
	}
	return found;
}
/** Without its folder; undefined for what lies deeper, or outside. */
function nameOf(path) {
	const parts = path.split("/");
	const [folder, name] = parts.length === 1 ? ["top", ...parts] : parts;
	return parts.length > 2 || [
		"",
		".",
		".."
	].includes(folder ?? "") ? void 0 : name;
}
async function textOf(found, mostBytes) {
	const { name, entry } = found;
	if (!isRegularFile(entry)) throw new Refusal(`The artifact's ${name} is no regular file: upload the work directory as it is.`);
	if (!entry.canDecodeFileData()) throw new Refusal(`The artifact's ${name} is encrypted, or packed in a way other than deflate: upload it with actions/upload-artifact.`);
	const content = await contentOf(found, mostBytes);
	if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
	if (!isUtf8(content)) throw new Refusal(`The artifact's ${name} is no UTF-8 text: judge the patch again.`);
	return content.toString();
}
/** By the type in st_mode(2), which Unix zips keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }) {
	const type = externalFileAttributes >>> 16 & 61440;
	return type === 0 || type === 32768;
}
/** What the entry says of its size is not believed: inflating stops at the bound. */
async function contentOf({ archive, zip, name, entry }, mostBytes) {
	const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
	const packed = zip.subarray(fileDataStart, fileDataStart + entry.compressedSize);
	const tooMuch = `The artifact's ${name} has more than ${mostBytes} bytes: nothing of that size is a result.`;
	if (entry.compressionMethod === 0) {
		if (packed.length > mostBytes) throw new Refusal(tooMuch);
		return packed;
	}
	try {
		return inflateRawSync(packed, { maxOutputLength: mostBytes });
	} catch (error) {
		const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
		throw new Refusal(isTooMuch ? tooMuch : `The artifact's ${name} is damaged: run the job that uploads it again.`);
	}
}
/** What the result is of that GitHub does not say of the patch, as a sentence; undefined where they agree. */
function agreesWith({ patch }, meant) {
	const place = meant.kind === "pull-request" ? ` of ${meant.repository}` : "";
	const called = meant.kind === "revision" ? `D${meant.number}:${meant.diff}` : `${patchName(meant)}${place}`;
	const isOf = (other) => `The result is of ${other}, not of ${called}: judge that again.`;
	if (patch.kind !== meant.kind) return isOf(kindNames[patch.kind]);
	if (patch.kind === "pull-request" && meant.kind === "pull-request") {
		if (patch.repository.toLowerCase() !== meant.repository.toLowerCase()) return isOf("another repository");
		if (patch.number !== meant.number) return isOf(patchName(patch));
	}
	if (patch.kind === "revision" && meant.kind === "revision") {
		if (!(patch.number === meant.number && patch.diff === meant.diff)) return isOf(`D${patch.number}:${patch.diff}`);
	}
	for (const side of ["base", "head"]) {
		const [judged, current] = [patch[`${side}Commit`], meant[`${side}Commit`]];
		if (judged === current) continue;
		return `The result is of ${called} with ${judged} as its ${side}, which is ${current} on GitHub: judge it again.`;
	}
}
const kindNames = {
	"pull-request": "a pull request",
	revision: "a revision",
	range: "a range of commits"
};
/** Title, author, links and names as GitHub has them, not as the artifact. */
const withPatch = (result, patch) => ({
	...result,
	patch
});

// src/action/extend.ts
const artifactName = "ppsgate-result";
/**
* Lays plan and journal into the work directory. What they say is laid on the DUT, so only those of a run count whose
* workflow is the repository's own: a fork's pull request brings its own. Throws a `UsageError` for what cannot go on.
*/
async function fetchExperiment(octokit, repository, { run, patch }, directory) {
	const again = `write /ppsgate run to measure ${patchName(patch)} from the start.`;
	await refuseForeign(octokit, repository, run, again);
	const artifact = await fetchArtifact(octokit, {
		repository,
		runId: run,
		name: artifactName
	});
	if (artifact.kind !== "fetched") throw new UsageError(`${artifact.why} Else ${again}`);
	const names = ["experiment.json", "journal.jsonl"];
	const entries = await readEntries(artifact.bytes, names);
	if (entries.kind === "refused") throw new UsageError(`${entries.why} Else ${again}`);
	await mkdir(directory, { recursive: true });
	for (const name of names) {
		const text = entries.texts.get(name);
		if (text === void 0) throw new UsageError(`The experiment to extend has no ${name}: ${again}`);
		await writeFile(join(directory, name), text);
	}
	const { patch: judged, variants } = await readPlan(directory);
	if (variants.some(({ kernel }) => kernel?.kind === "archive")) throw new UsageError(`The experiment to extend boots a kernel from a file: ${again}`);
	if (judged.headCommit !== patch.headCommit || judged.baseCommit !== patch.baseCommit) throw new UsageError(`The experiment to extend is of other commits than are there now: ${again}`);
}
/** As many as are asked for, or twice as many as there may have been. */
async function runsToExtend(directory, asked) {
	if (asked !== void 0) return parseMaxRuns(asked);
	const { cells } = await readPlan(directory);
	return 2 * Math.max(...cells.flatMap(({ design }) => design.budgets));
}
async function refuseForeign(octokit, repository, run_id, again) {
	const [owner = "", repo = ""] = repository.split("/");
	const { data } = await octokit.rest.actions.getWorkflowRun({
		owner,
		repo,
		run_id
	}).catch((error) => {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (failure.kind === "answered" && failure.status === 404) throw new UsageError(`The experiment to extend is gone from GitHub: ${again}`);
		throw new Error(`GitHub did not tell which run the experiment to extend is of (${failure.said}): run the job again.`);
	});
	if (data.event === "pull_request_target" || data.head_repository?.full_name === data.repository.full_name) return;
	throw new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`);
}

// src/publish/data-directory.ts
/** A directory that cannot be published in. */
var DataDirectoryError = class extends Error {
	name = "DataDirectoryError";
};
/**
* Puts results into the directory, which need not exist yet, or with none brings its badges up to date; answers the
* paths of each in it. Each file is there whole or not at all, and the index never tells of one that is not. Others
* who publish there are waited for, up to a minute. Throws a DataDirectoryError where there is something else.
*/
async function publishToDirectory(directory, publications, { pause = (seconds) => setTimeout(seconds * 1e3), ...rules }) {
	await mkdir(directory, { recursive: true });
	return inTurn(directory, pause, async () => {
		const { write, remove, published } = nextFiles(await readStored(directory), publications, {
			...rules,
			isSite: true
		});
		for (const [path, text] of write) await replaceFile(join(directory, path), text);
		for (const path of remove) await removeFile(join(directory, path));
		return published;
	});
}
const mostTries = 60;
/** Node has no flock(2), but SQLite locks a file, and the kernel unlocks it when the process ends. */
async function inTurn(directory, pause, work) {
	const lock = new DatabaseSync(join(directory, ".lock"));
	try {
		for (let tries = 1; !isLocked(lock); tries++) {
			if (tries === mostTries) throw new DataDirectoryError(`${directory} was written to by somebody else for a minute: publish the result again later.`);
			await pause(1);
		}
		return await work();
	} finally {
		lock.close();
	}
}
function isLocked(lock) {
	try {
		lock.exec("BEGIN EXCLUSIVE");
		return true;
	} catch {
		return false;
	}
}
async function readStored(directory) {
	const text = await readText(join(directory, indexPath));
	if (text === void 0) return {
		index: emptyIndex,
		history: [],
		paths: /* @__PURE__ */ new Set()
	};
	const index = parseIndex(text);
	if (index === void 0) throw new DataDirectoryError(`${join(directory, indexPath)} is no index of this version of ppsgate: name another directory, or remove this one.`);
	return {
		index,
		history: parseHistory(await readText(join(directory, "history.jsonl")) ?? ""),
		paths: await pathsIn(directory)
	};
}
const readText = (path) => readFile(path, "utf8").catch((error) => {
	if (error.code === "ENOENT") return void 0;
	throw new DataDirectoryError(`${path} cannot be read (${error.code}): check who may read it.`);
});
async function pathsIn(directory) {
	const files = (await readdir(directory, {
		recursive: true,
		withFileTypes: true
	})).filter((entry) => !entry.isDirectory());
	return new Set(files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll(sep, "/")));
}
/** And its folder, when that is empty then. */
async function removeFile(path) {
	await rm(path, { force: true });
	await rmdir(dirname(path)).catch(() => {});
}

// src/action/publish-data.ts
/** With no publication the badges are brought up to date. What cannot be kept is a warning: the verdict stands. */
async function publishData({ octokit, inputs: { job } }, { github }, asked) {
	const warned = /* @__PURE__ */ new Set();
	const leftOut = (why) => {
		if (!warned.has(why)) log.warn(why);
		warned.add(why);
	};
	const usual = {
		rerun: `comment \`/ppsgate rerun\`, or ${`[run this job again](${job.runUrl})`}`,
		rawData: `the [job](${job.runUrl})`
	};
	const publications = asked.map((publication) => ({
		...publication,
		leftOut
	}));
	const all = publications.map(() => usual);
	const { branch, directory, pages, keep, staleSeconds } = github.data;
	if (directory !== void 0) await publishToDirectory(directory, publications, {
		keep,
		staleSeconds,
		now: /* @__PURE__ */ new Date()
	}).catch((error) => log.warn(`${directory} did not get the result (${reasonOf(error)}).`));
	if (branch === void 0) return all;
	const published = await publishToBranch(octokit, {
		repository: job.repository,
		branch,
		serverUrl: job.serverUrl,
		...pages && { pages }
	}, publications, {
		keep,
		staleSeconds,
		now: () => /* @__PURE__ */ new Date()
	});
	if (published.kind === "not-published") {
		log.warn(published.why);
		return all;
	}
	return published.links.map(({ result, report, page, graphs }) => {
		const rawData = [
			report && `[report](${report})`,
			result && `[result](${result})`,
			usual.rawData
		].filter(Boolean).join(", ");
		return {
			...usual,
			rawData,
			...page && { page },
			graph: (anchor) => graphs.get(anchor)
		};
	});
}

export { agreesWith as a, profilesIn as c, readHistory as d, runsToExtend as i, readEntries as l, artifactName as n, fetchArtifact as o, fetchExperiment as r, parseResult as s, publishData as t, withPatch as u };