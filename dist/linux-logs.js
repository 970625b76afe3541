import { C as object, y as int } from "./scenario.js";
import { i as shortened } from "./one-line.js";
import { c as formatPercent, l as formatPps } from "./format.js";
import { c as flowRanges, l as flowSlices, v as shell } from "./schema.js";
import { u as medianAbsoluteDeviation } from "./student.js";
import { t as formatGeneral } from "./printf.js";
import { t as median } from "./summary.js";

// src/stats/steady.ts
/** A second belongs to the steady stretch up to this far from its level, whatever the scatter. */
const leastTolerance = .02;
const toleranceInDeviations = 5;
/** Half of the seconds further away than this: the series has no level. */
const mostDeviation = .1;
/** Ramp and tail together may not eat more than the rest of this share of the traffic. */
const leastShare = .75;
/** Between the medians of the first and the last third of the stretch. */
const mostDrift = .05;
/**
* The series without what leads up to the steady rate and what follows it: zeros before and after the traffic, the
* ramp, the sender's last part of a second. The level is the median of the middle half of the traffic, and both ends
* are cut back to the first second near it: within 2 % or five median absolute deviations. All of it is medians, so a
* few outliers move nothing; and a single second of the real logs scatters by 0.2 %, so the bounds are wide.
* What has no level (two of them, a drift, a fall half-way) is unsteady and says why.
*/
function steadyStretch(pps) {
	const traffic = ends(pps, (rate) => rate > 0);
	if (traffic === void 0) return unsteady$1("not one packet was counted");
	const middle = middleHalf(pps.slice(traffic.from, traffic.to));
	const level = median(middle);
	const deviation = medianAbsoluteDeviation(middle);
	if (level === 0) return unsteady$1("most of the time no packet was counted");
	if (deviation > mostDeviation * level) return unsteady$1(`half of its rates are more than 10 % away from ${formatPps(level)}`);
	const tolerance = Math.max(leastTolerance * level, toleranceInDeviations * deviation);
	const stretch = ends(pps, (rate) => Math.abs(rate - level) <= tolerance) ?? traffic;
	if (length(stretch) < leastShare * length(traffic)) {
		const share = `${length(stretch)} of ${length(traffic)}`;
		return unsteady$1(`only ${share} rates lie between the ramp and the tail`);
	}
	return withoutDrift(pps, stretch);
}
function ends(pps, belongs) {
	const from = pps.findIndex(belongs);
	return from === -1 ? void 0 : {
		from,
		to: pps.findLastIndex(belongs) + 1
	};
}
function middleHalf(pps) {
	const quarter = Math.floor(pps.length / 4);
	return pps.slice(quarter, pps.length - quarter);
}
const length = ({ from, to }) => to - from;
function withoutDrift(pps, { from, to }) {
	const medianPps = median(pps.slice(from, to));
	const third = Math.ceil((to - from) / 3);
	const first = median(pps.slice(from, from + third));
	const last = median(pps.slice(to - third, to));
	if (Math.abs(last - first) > mostDrift * medianPps) return unsteady$1(`it drifts from ${formatPps(first)} to ${formatPps(last)}`);
	return {
		kind: "steady",
		from,
		to,
		medianPps
	};
}
const unsteady$1 = (reason) => ({
	kind: "unsteady",
	reason
});
const collapse = .1;
/** Where a steady stretch breaks down to less than a tenth of its median, in order. */
function holes(pps, { from, to }, medianPps) {
	const found = [];
	for (let index = from; index < to; index++) {
		if ((pps[index] ?? 0) >= collapse * medianPps) continue;
		const open = found.at(-1);
		if (open?.to === index) open.to = index + 1;
		else found.push({
			from: index,
			to: index + 1
		});
	}
	return found;
}
const defaultBounds = {
	atLeast: 10,
	toleranceRatio: .005
};
/**
* Whether the median is known well enough to end a blast now, by the seconds so far and nothing later: they have a
* steady stretch of at least `atLeast`, and the distribution-free 95 % confidence interval of its median lies within
* the tolerance. From ten seconds on that interval also holds the median as it was up to five seconds ago, so a
* watch on the running median would add nothing. Seconds of one boot tell nothing of the next: this ends a run, not
* an experiment.
*/
function isSteady(pps, { atLeast, toleranceRatio } = defaultBounds) {
	const stretch = steadyStretch(pps);
	if (stretch.kind === "unsteady") return false;
	const sorted = pps.slice(stretch.from).sort((a, b) => a - b);
	if (sorted.length < atLeast) return false;
	const rank = lowRank(sorted.length);
	const [low, high] = [sorted[rank - 1], sorted[sorted.length - rank]];
	if (low === void 0 || high === void 0) return false;
	const middle = median(sorted);
	return Math.max(middle - low, high - middle) <= toleranceRatio * middle;
}
/**
* The interval from the rank-th smallest to the rank-th largest value holds the median in 95 % of all samples:
* the normal approximation of the sign test's rank, which is the exact one or one less. 0 where fewer than six values
* allow no such interval.
*/
const lowRank = (n) => Math.max(0, Math.round(n / 2 - .98 * Math.sqrt(n)));
/**
* After how many seconds of the series `isSteady` held first; undefined where it never did, or only after `atMost`.
*/
function secondsUntilSteady(pps, { atMost = 600, ...bounds } = defaultBounds) {
	const last = Math.min(pps.length, atMost);
	for (let seconds = bounds.atLeast; seconds <= last; seconds++) if (isSteady(pps.slice(0, seconds), bounds)) return seconds;
}

// src/traffic/pkt-gen.ts
/**
* Reads a log line by line and passes over what it does not know: kernels, shells and ssh write into it too.
* The formats are those of pkt-gen's own printing from 2015 to 2026; nothing that is read throws.
*/
function parsePktGenLog(text) {
	const log = {
		rates: [],
		lines: 0,
		faults: []
	};
	let isPktGen = false;
	let lastStamp;
	for (const { content, number, isWhole } of linesOf(text)) {
		const line = readLine(content);
		isPktGen ||= line.kind !== "foreign";
		if (isWhole) log.lines = number;
		if (line.kind === "rate") {
			log.rates.push({
				...line.rate,
				seconds: secondsAt(line, log.rates.at(-1), lastStamp),
				line: number
			});
			lastStamp = line.stamp;
		} else if (isWhole || line.kind === "crash") take(log, line, number);
		else addFault(log, {
			kind: "cut",
			message: `the log ends in the middle of line ${number}`
		});
	}
	return isPktGen ? log : {
		rates: [],
		lines: log.lines,
		faults: [notPktGen(text)]
	};
}
/** Far longer than any of pkt-gen's: the rest of such a line is not looked at. */
const longestLine = 4096;
function* linesOf(text) {
	let number = 0;
	for (let start = 0; start < text.length;) {
		const newline = text.indexOf("\n", start);
		const end = newline === -1 ? text.length : newline;
		const content = text.slice(start, Math.min(end, start + longestLine)).trimEnd();
		number += 1;
		yield {
			content,
			number,
			isWhole: newline !== -1
		};
		start = end + 1;
	}
}
/** `seconds.microseconds function [line of its source] `, before whatever netmap's logging macro prints. */
const stamped = /^\d{1,9}\.\d{1,9} \w{1,40} \[\d{1,9}\] /;
const rateLine = /^(\d{1,9}\.\d{1,9}) main_thread \[\d{1,9}\] (\d{1,15}) pps \((\d{1,15}) pkts (?:in (\d{1,15}) usec\)|\d{1,18} bps in (\d{1,15}) usec\) [\d.]{1,18} avg_batch \d{1,18} min_space)$/;
const begunRate = /^\d{1,9}\.\d{1,9} main_thread \[\d{1,9}\] \d/;
const crash = /\] (poll err|ouch, thread \d{1,9} exited with error)$/;
const summaryLine = /^(?:Sent|Received) (\d{1,15}) packets,? (?:\d{1,18} bytes \d{1,15} events )?(\d{1,9}) bytes each,? in (-?\d{1,12}\.\d{1,9}) seconds\.$/;
const commandLine = /^CMD(?: on \S{1,255})?: (.*\bpkt-gen\b.*)$/;
function readLine(content) {
	const rate = rateLine.exec(content);
	if (rate !== null) return rateOf(rate);
	if (stamped.test(content)) return stampedLine(content);
	const [, packets, frameBytes, seconds] = summaryLine.exec(content) ?? [];
	if (packets !== void 0) return {
		kind: "summary",
		packets: Number(packets),
		frameBytesWithoutCrc: Number(frameBytes),
		seconds: Number(seconds)
	};
	const command = commandLine.exec(content)?.[1];
	return command === void 0 ? { kind: "foreign" } : commandOf(command);
}
function rateOf([, stamp, pps, packets, alone, afterBits]) {
	const intervalSeconds = Number(alone ?? afterBits) / 1e6;
	const rate = {
		pps: Number(pps),
		packets: Number(packets),
		intervalSeconds
	};
	return {
		kind: "rate",
		stamp: Number(stamp),
		rate
	};
}
function stampedLine(content) {
	const text = crash.exec(content)?.[1];
	if (text !== void 0) return {
		kind: "crash",
		text
	};
	return { kind: begunRate.test(content) ? "torn-rate" : "other" };
}
/** What pkt-gen sends without `-l`. */
const defaultFrameBytes = 60;
function commandOf(text) {
	const size = /\s-l\s*(\d{1,5})(?!\S)/.exec(text)?.[1];
	if (size !== void 0) return {
		kind: "command",
		text,
		frameBytesWithoutCrc: Number(size)
	};
	return {
		kind: "command",
		text,
		.../\s-f\s*tx(?!\S)/.test(text) ? { frameBytesWithoutCrc: defaultFrameBytes } : {}
	};
}
/** pkt-gen prints its clock modulo this many seconds. */
const stampCycle = 1e3;
/** Of all times that the stamp may mean, the one nearest to what the rate's own interval says; time never runs back. */
function secondsAt({ stamp, rate }, before, lastStamp) {
	if (before === void 0 || lastStamp === void 0) return 0;
	const step = stamp - lastStamp;
	const cycles = Math.round((rate.intervalSeconds - step) / stampCycle);
	return before.seconds + Math.max(0, step + cycles * stampCycle);
}
function take(log, line, number) {
	if (line.kind === "command") {
		const { text, frameBytesWithoutCrc: bytes } = line;
		log.command ??= text;
		if (bytes !== void 0) log.frameBytesWithoutCrc ??= bytes;
	}
	if (line.kind === "summary") takeSummary(log, line);
	if (line.kind === "crash") addFault(log, {
		kind: "crashed",
		message: `pkt-gen crashed: "${line.text}" on line ${number}`
	});
	if (line.kind === "torn-rate") addFault(log, {
		kind: "cut",
		message: `line ${number} of the log is cut in the middle`
	});
}
/** pkt-gen prints a duration since 1970, negated, where its threads never saw a start. */
function takeSummary(log, { packets, frameBytesWithoutCrc, seconds }) {
	log.frameBytesWithoutCrc ??= frameBytesWithoutCrc;
	if (seconds < 0) addFault(log, {
		kind: "negative-duration",
		message: `pkt-gen's summary tells a negative duration, ${seconds} s`
	});
	if (seconds > 0) log.summary = {
		packets,
		seconds,
		pps: packets / seconds
	};
}
function addFault(log, fault) {
	if (!log.faults.some(({ kind }) => kind === fault.kind)) log.faults.push(fault);
}
function notPktGen(text) {
	return {
		kind: "not-pkt-gen",
		message: `no log of pkt-gen: it ${whatItIs(text.slice(0, longestLine))}`
	};
}
function whatItIs(start) {
	if (start.trim() === "") return "is empty";
	if (start.includes("\0")) return "is binary";
	if (/^CMD\b.{0,255}: equilibrium |using equilibrium throughput/m.test(start)) return "is equilibrium's, which varies the load that it offers";
	return `begins with "${shortened(start)}"`;
}
const gigabitSpeeds = [
	1,
	2.5,
	10,
	25,
	40,
	50,
	100,
	200,
	400
];
const crcBytes = 4;
const smallestFrameBytes = 64;
/** Preamble, start delimiter and the gap between frames, IEEE 802.3. */
const wireBytesPerFrame = 20;
/** Two clocks differ: a generator's second may be longer than its wire's. */
const clockTolerance = 1.001;
/**
* The slowest standard Ethernet speed at which that many frames a second fit, and how many fit at most;
* undefined where not even the fastest carries them.
*/
function lineRate(pps, frameBytesWithoutCrc) {
	const bitsPerFrame = (Math.max(smallestFrameBytes, frameBytesWithoutCrc + crcBytes) + wireBytesPerFrame) * 8;
	return gigabitSpeeds.map((gigabits) => ({
		bitsPerSecond: gigabits * 1e9,
		pps: gigabits * 1e9 / bitsPerFrame
	})).find((line) => pps <= line.pps * clockTolerance);
}

// src/traffic/pkt-gen-run.ts
/**
* A run's number and validity, from the receiver's log and, where there are any, the senders'. Whether the run counts
* is judged by its steady stretch, whichever the median is of.
*/
function pktGenRun(receiver, sender, { netbenchesTrim, askedPps = [] }) {
	const senders = namedSenders([sender ?? []].flat());
	const pps = ratesOf(receiver);
	const stretch = steadyStretch(pps);
	const counted = netbenchesTrim ? netbenchesRates(receiver) : ratesWithin(receiver, stretch);
	const seconds = sum$1(counted.map(({ intervalSeconds }) => intervalSeconds));
	const medianPps = median(counted.map(({ pps }) => pps));
	const offeredPps = offeredBy(senders);
	const steadyAfterSeconds = secondsUntilSteady(pps);
	const fault = brokenLog(receiver, senders) ?? silent(receiver) ?? unsteady(receiver, stretch) ?? tooShort(receiver, seconds) ?? hole(receiver, stretch) ?? unsteadySender(senders) ?? slowSender(senders, askedPps) ?? generatorLimited$1(medianOf(stretch), offeredPps, senders);
	return {
		medianPps: netbenchesTrim ? asPrinted(medianPps) : medianPps,
		...offeredPps === void 0 ? {} : { offeredPps },
		seconds,
		...steadyAfterSeconds === void 0 ? {} : { steadyAfterSeconds },
		validity: fault ?? { kind: "valid" }
	};
}
const invalid$1 = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});
const ratesOf = (log) => log.rates.map(({ pps }) => pps);
const namedSenders = (logs) => logs.map((log, index) => ({
	name: logs.length === 1 ? "sender" : `sender ${index + 1}`,
	log,
	stretch: steadyStretch(ratesOf(log))
}));
const medianOf = (stretch) => stretch.kind === "steady" ? stretch.medianPps : void 0;
/** Undefined where one of them is not known, or there is none. */
function offeredBy(senders) {
	const medians = senders.flatMap(({ stretch }) => medianOf(stretch) ?? []);
	return medians.length === 0 || medians.length < senders.length ? void 0 : sum$1(medians);
}
const firstLinesDropped = 15;
const lastLinesDropped = 10;
/**
* The rates that the archive's `.pps` files are medians of: it drops the first 15 and the last 10 lines of the file,
* whatever they say, and then rates of zero. A line without its newline is no line to it. Of a file of 25 lines or
* fewer nothing is left (the archive's script stumbles there, and gives no number either).
*/
function netbenchesRates({ rates, lines }) {
	return rates.filter(({ line, pps }) => line > firstLinesDropped && line <= lines - lastLinesDropped && pps > 0);
}
/** The archive's script reads its medians off ministat's rows, which have eight digits. */
const asPrinted = (pps) => Number(formatGeneral(pps, 8));
function ratesWithin({ rates }, stretch) {
	return stretch.kind === "unsteady" ? [] : rates.slice(stretch.from, stretch.to);
}
const sum$1 = (values) => values.reduce((total, value) => total + value, 0);
/** What no number survives. A log that is only cut short, or that ends in nonsense, still has its seconds. */
function brokenLog(receiver, senders) {
	const [fault] = [{
		name: "receiver",
		log: receiver
	}, ...senders].flatMap(({ name, log }) => {
		const message = decisiveFault(log);
		return message === void 0 ? [] : invalid$1("broken-log", `${name}: ${message}`);
	});
	return fault;
}
const decisiveFault = ({ faults }) => faults.find(({ kind }) => kind === "unreadable" || kind === "not-pkt-gen" || kind === "crashed")?.message;
/** A dead link looks like a DUT that forwards nothing. */
function silent({ rates }) {
	if (rates.length === 0 || rates.some(({ pps }) => pps > 0)) return void 0;
	const silence = `no steady rate: not one packet came through in ${sum$1(rates.map(({ intervalSeconds }) => intervalSeconds)).toFixed(0)} s`;
	return invalid$1("unsteady", `${silence}, because a link was down or the DUT forwards nothing`);
}
function unsteady(receiver, stretch) {
	if (stretch.kind === "steady") return void 0;
	return invalid$1("unsteady", `no steady rate: ${stretch.reason}${cutNote(receiver)}`);
}
/** Below this a median of one-second rates, and the look for holes and drift, say little. */
const leastSeconds = 10;
function tooShort(receiver, seconds) {
	if (seconds >= 10) return void 0;
	const few = `only ${seconds.toFixed(1)} s of steady traffic`;
	return invalid$1("too-short", `${few}, at least ${10} s are needed${cutNote(receiver)}`);
}
/** A cut log that has enough seconds left loses only the line that was cut; one that has not says why. */
function cutNote({ faults }) {
	const cut = faults.find(({ kind }) => kind === "cut");
	return cut === void 0 ? "" : ` (${cut.message})`;
}
function hole(receiver, stretch) {
	if (stretch.kind === "unsteady") return void 0;
	const [first] = holes(ratesOf(receiver), stretch, stretch.medianPps);
	if (first === void 0) return void 0;
	const rates = receiver.rates.slice(first.from, first.to);
	const seconds = sum$1(rates.map(({ intervalSeconds }) => intervalSeconds));
	const until = rates.at(-1)?.seconds ?? 0;
	const lost = rates.every(({ pps }) => pps === 0) ? "no packet" : "hardly a packet";
	const when = `${seconds.toFixed(1)} s, until ${until.toFixed(0)} s after the log's first rate`;
	return invalid$1("hole", `${lost} came through for ${when}`);
}
/** A sender that is unsteady leaves nobody to know what was offered. */
function unsteadySender(senders) {
	const [fault] = senders.flatMap(({ name, stretch }) => stretch.kind === "steady" ? [] : invalid$1("unsteady", `${name}: no steady rate: ${stretch.reason}`));
	return fault;
}
/** Under another load than that of the other runs a DUT forwards another number of packets. */
const leastOfAsked = .95;
function slowSender(senders, askedPps) {
	const [fault] = senders.flatMap(({ name, stretch }, index) => {
		const [sent, asked] = [medianOf(stretch), askedPps[index]];
		if (sent === void 0 || asked === void 0 || sent >= leastOfAsked * asked) return [];
		const share = `${formatPps(sent)} of ${formatPps(asked)} (${formatPercent(sent / asked)})`;
		return invalid$1("generator-limited", `${name}: slower than asked, it sent ${share}`);
	});
	return fault;
}
/** A DUT that forwards this share of the load was not its limit. */
const saturatedRatio = .98;
/** Without a sender's log nobody can tell. */
function generatorLimited$1(medianPps, offeredPps, senders) {
	if (medianPps === void 0 || offeredPps === void 0) return void 0;
	const ratio = medianPps / offeredPps;
	if (ratio < saturatedRatio) return void 0;
	const through = `${formatPps(medianPps)} came through of ${formatPps(offeredPps)} offered`;
	const [sender, ...others] = senders;
	const line = others.length > 0 ? "" : lineNote(offeredPps, sender?.log.frameBytesWithoutCrc);
	return invalid$1("generator-limited", `generator-limited: ${through} (${formatPercent(ratio)})${line}`);
}
function lineNote(offeredPps, frameBytesWithoutCrc) {
	if (frameBytesWithoutCrc === void 0) return "";
	const line = lineRate(offeredPps, frameBytesWithoutCrc);
	if (line === void 0) return "";
	return `, and the line carries ${formatPps(line.pps)} (${line.bitsPerSecond / 1e9} Gbit/s)`;
}

// src/testbed/freebsd-logs.ts
/** The logs by their names in the folder of a blast; there is one for each sender. */
const freebsdLogNames = {
	receiver: "receiver.log",
	sender: (index) => `sender-${index + 1}.log`,
	/** The DUT's counters before and after. */
	counters: "dut-counters.log"
};
/** Of a blast of one run, which is all that a testbed carries that boots its variants. */
function readFreebsdLogs({ number, cell, runs }, { receiver, senders }, { startedAt, traffic, told = {} }) {
	const log = parsePktGenLog(receiver);
	const askedPps = askedOf(traffic, cell.family, senders.length);
	const measured = pktGenRun(log, senders.map(parsePktGenLog), {
		netbenchesTrim: false,
		askedPps
	});
	const seconds = log.rates.reduce((sum, { intervalSeconds }) => sum + intervalSeconds, 0);
	return {
		kind: "measured",
		runs: runs.map((run) => ({
			...run,
			blast: number,
			pps: measured.medianPps,
			samples: [],
			validity: measured.validity
		})),
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds: seconds,
			offeredPps: measured.offeredPps ?? 0,
			...told
		}
	};
}
/** What each sender was asked for, as the flows are shared; none where they send as fast as they can. */
function askedOf({ flows, offeredPps }, family, senders) {
	const split = flowRanges(flows, family, senders);
	if (offeredPps === void 0 || split.kind === "refused") return [];
	const all = split.flows;
	return flowSlices(all, senders).map(({ sources }) => offeredPps * sources / all.sources);
}

// src/dut/linux-script.ts
/**
* Bash, because its builtins read counters and the clock without a fork. A variant is a folder with one
* `SCENARIO.nft` (the whole ruleset, so that nft swaps it in one transaction) and a `sysctl.conf`, whose lines
* are `path below /proc/sys = value`: nobody but us decides which file a name is.
*
*   remember           keeps the ruleset and the settings named on standard input, once, for restore
*   restore            lays what was remembered, and forgets it
*   lay FOLDER SCENARIO
*   profile …          lays one variant and samples it by perf(1), into perf.data beside the script; prints three `mark` lines
*   observe …          for each VARIANT in turn: lay, settle, sample; prints `lay`, `sample` and `end` lines, live
*                      or all at the end; gives up when its standard input ends, and a line there ends the sampling
*/
const linuxDutScript = String.raw`
export LC_ALL=C
folder=$(dirname "$0")

# Only one at a time: what a lost controller left running must have ended before its traces are removed.
mkdir -p "$folder"
exec {lock}>"$folder.lock"
flock --timeout 60 "$lock" || exit

# Sleeps on standard input: a line says that there are samples enough, its end that nobody waits for them any more.
enough=0
pause() {
  local ending
  # read(1) would not wait at all, and say so as of an end.
  [[ $1 == 0 ]] && return
  read -r -t "$1" _
  ending=$?
  ((ending > 0)) || { enough=1; return; }
  ((ending > 128)) || { echo "the controller is gone" >&2; exit 1; }
}

lay() {
  local name value
  while read -r name _ value; do
    put "/proc/sys/$name" "$value" || { echo "setting $name" >&2; return 1; }
  done <"$1/sysctl.conf"
  # Rules may list things, and what is printed here counts as samples.
  nft -f "$1/$2.nft" >/dev/null
}

# A namespace may not change what it shares with the machine: that is as it is, for every variant.
put() {
  [[ -e $1 && ! -w $1 ]] && return
  # Bash would part a longer value, and the kernel take the pieces for as many values.
  if ((${"$"}{#2} < 1000)); then printf '%s\n' "$2"; else cat <<<"$2"; fi >"$1"
}

remember() {
  [[ -e $folder/before/done ]] && return
  mkdir -p "$folder/before"
  while read -r name; do
    value=$(cat "/proc/sys/$name") && echo "$name = $value"
  done >"$folder/before/sysctl.conf"
  { echo "flush ruleset"; nft list ruleset; } >"$folder/before/ruleset.nft" || return
  : >"$folder/before/done"
}

restore() {
  [[ -e $folder/before/done ]] || return 0
  lay "$folder/before" ruleset && rm -rf "$folder/before"
}

observe() {
  local ingress=$1 egress=$2 cpu=$3 scenario=$4 warm_up=$5 settle=$6 slice=$7 slices=$8 live=$9
  shift 9
  local received=/sys/class/net/$ingress/statistics/rx_packets
  local forwarded=/sys/class/net/$egress/statistics/tx_packets
  local thread run=0 out= rx tx ns delay stolen start now i

  thread=$(forwarding_thread "$ingress")
  await_traffic || return
  pause "$warm_up"
  for variant; do
    now=$EPOCHREALTIME
    lay "$folder/$variant" "$scenario" || return
    tell "lay $variant $now $EPOCHREALTIME"
    pause "$settle"
    sample
    for ((i = 0; i < slices; i++)); do
      pause "$slice"
      ((enough)) && break
      sample
    done
    ((run++))
  done
  printf '%send\n' "$out"
}

profile() {
  local ingress=$1 cpu=$2 scenario=$3 warm_up=$4 seconds=$5 variant=$6
  shift 6
  local received=/sys/class/net/$ingress/statistics/rx_packets
  local where start rx i

  # All of the CPU where no thread of its own forwards.
  where=$(forwarding_thread "$ingress")
  where=$([[ -n $where ]] && echo "--tid=$where" || echo "--cpu=$cpu")
  await_traffic || return
  lay "$folder/$variant" "$scenario" || return
  pause "$warm_up"
  mark
  perf record --quiet "$@" -g "$where" --output "$folder/perf.data" -- sleep "$seconds" >&2 || return
  mark
  pause 0.05
  mark
}

mark() {
  read -r rx <"$received"
  echo "mark $EPOCHREALTIME $rx"
}

tell() {
  if ((live)); then echo "$1"; else out+=$1$'\n'; fi
}

sample() {
  ns=- delay=- stolen=-
  read -r tx <"$forwarded"; read -r rx <"$received"
  if [[ -n $thread ]]; then
    read -r ns delay _ <"/proc/$thread/schedstat"
    while read -r now _ _ _ _ _ _ _ stolen _ && [[ $now != "cpu$cpu" ]]; do :; done </proc/stat
  fi
  tell "sample $run $EPOCHREALTIME $rx $tx $ns $delay $stolen"
}

forwarding_thread() {
  local directory name
  for directory in /proc/[0-9]*; do
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
    [[ $name == "napi/$1"* ]] && { basename "$directory"; return; }
  done
}

await_traffic() {
  read -r start <"$received"
  for ((i = 0; i < 500; i++)); do
    read -r rx <"$received"
    ((rx > start + 1000)) && return
    pause 0.02
  done
  echo "no traffic arrived at $ingress within 10 s" >&2
  return 1
}

"$@"
`;
/** The command that samples a blast's runs, ahead of everything else on the DUT's CPU. */
function observeCommand(request) {
	const { script, ingress, egress, cpu, scenario, variants, slices } = request;
	const live = request.live ? 1 : 0;
	const times = [
		request.warmUpSeconds,
		request.settleSeconds,
		request.sliceSeconds
	];
	return shell`chrt -f 20 taskset -c ${cpu} bash ${script} observe ${ingress} ${egress} ${cpu} ${scenario} ${times} ${slices} ${live} ${variants}`;
}
/** Reads what `observe` printed: counters at points of time, turned into what happened between them. */
function parseObservation(log) {
	const lines = log.trimEnd().split("\n");
	if (lines.at(-1) !== "end") return {
		kind: "failed",
		reason: "the DUT stopped sampling before the end of the blast"
	};
	const points = lines.filter((line) => line.startsWith("sample ")).map(parsePoint);
	const samplesPerRun = [...Map.groupBy(points, (point) => point.run).values()].map(differences);
	return samplesPerRun.flat().every(goesForward) ? {
		kind: "observed",
		samplesPerRun
	} : {
		kind: "failed",
		reason: "the DUT’s clock or a counter went backwards, or is unreadable"
	};
}
/** Takes the log of one run in pieces of any size, as it is written, and answers the samples of its whole lines so far. */
function samplesAsTheyCome() {
	const samples = [];
	let unfinished = "";
	let before;
	return (piece) => {
		unfinished += piece;
		if (!piece.includes("\n")) return samples;
		const lines = unfinished.split("\n");
		unfinished = lines.pop() ?? "";
		for (const point of lines.filter((line) => line.startsWith("sample ")).map(parsePoint)) {
			if (before !== void 0) samples.push(difference(before, point));
			before = point;
		}
		return samples;
	};
}
/** Of /proc/stat, whose ticks are a hundredth of a second whatever the kernel's own are: proc_stat(5), USER_HZ. */
const nsPerTick = 1e7;
function parsePoint(line) {
	const [, run = "", time, received, forwarded, busyNs, delayNs, stolenTicks] = line.split(" ");
	return {
		run,
		time: Number(time),
		received: Number(received),
		forwarded: Number(forwarded),
		busyNs: Number(busyNs),
		deniedNs: Number(delayNs) + Number(stolenTicks) * nsPerTick
	};
}
const differences = (points) => points.slice(1).map((point, index) => difference(points[index], point));
function difference(before, point) {
	const busySeconds = (point.busyNs - before.busyNs) / 1e9;
	const deniedSeconds = (point.deniedNs - before.deniedNs) / 1e9;
	return {
		seconds: point.time - before.time,
		receivedPackets: point.received - before.received,
		forwardedPackets: point.forwarded - before.forwarded,
		...Number.isNaN(busySeconds) ? {} : { busySeconds },
		...Number.isNaN(deniedSeconds) ? {} : { deniedSeconds }
	};
}
/** Also false where something that is no number was read. */
const goesForward = (sample) => sample.seconds > 0 && [sample.receivedPackets, sample.forwardedPackets].every((packets) => packets >= 0) && [sample.busySeconds, sample.deniedSeconds].every((seconds = 0) => seconds >= 0);

// src/traffic/trafgen.ts
/**
* Sends until its standard input ends, so that no generator outlives the controller or the connection; then
* prints trafgen's own log. trafgen forks: only its process group as a whole can be ended.
*/
const senderScript = `
interface=$1 cpu=$2 rate=$3 flows=$4 limit_seconds=$5
log=$(mktemp)
exec {never}<> <(:)
set -m
nice -n -20 taskset -c "$cpu" trafgen --no-sock-mem -Q -i "$flows" -o "$interface" -P 1 -b "$rate"pps >"$log" 2>&1 &
group=$!
read -r -t "$limit_seconds" _
kill -INT -- "-$group" 2>/dev/null
for ((i = 0; i < 50; i++)); do
  kill -0 -- "-$group" 2>/dev/null || break
  read -r -t 0.02 -u "$never" _
done
kill -KILL -- "-$group" 2>/dev/null
cat "$log"
rm -f "$log"
`;
/** The command that runs `senderScript` from the path `script` on the sender. */
function senderCommand(request) {
	const { script, cpu, offeredPps, flows, limitSeconds } = request;
	return shell`bash ${script} ${request.interface} ${cpu} ${offeredPps} ${flows} ${limitSeconds}`;
}
/** Reads the summary at the end of trafgen's log: packets handed to the kernel, and in how long. */
function parseTrafgenLog(log) {
	const packets = /^[ \t]*(\d+) packets outgoing$/m.exec(log)?.[1];
	const time = /^[ \t]*(\d+) sec, (\d+) usec on CPU/m.exec(log);
	const seconds = Number(time?.[1]) + Number(time?.[2]) / 1e6;
	if (packets === void 0 || !(seconds > 0)) return {
		kind: "failed",
		reason: `trafgen ended without its summary: "${log.trim().split("\n").at(-1) ?? ""}"`
	};
	return {
		kind: "sent",
		packets: Number(packets),
		seconds,
		offeredPps: Number(packets) / seconds
	};
}

// src/testbed/run.ts
/** A DUT that forwards all it is offered, or wants its CPU for less than this share of the time, was not the limit. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = .9;
/**
* The medians of the samples. A run with a hole, or one in which the generator was the limit, is invalid;
* one that forwarded nothing of what arrived, from its first sample to its last, has a number like any other: 0.
*/
function measuredRun(planned, blast, samples, offeredPps) {
	const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
	const stretch = samples.length < fewestForStretch ? {
		kind: "steady",
		from: 0,
		to: samples.length,
		medianPps: median(rates)
	} : steadyStretch(rates);
	if (stretch.kind === "unsteady" && rates.some((rate) => rate > 0)) {
		const validity = invalid("unsteady", `no steady rate: ${stretch.reason}`);
		return {
			...planned,
			blast,
			pps: median(rates),
			samples,
			validity
		};
	}
	const steady = stretch.kind === "steady" ? samples.slice(stretch.from, stretch.to) : samples;
	const pps = stretch.kind === "steady" ? stretch.medianPps : 0;
	const costs = steady.flatMap(nsPerPacket);
	return {
		...planned,
		blast,
		pps,
		...costs.length === steady.length ? { nsPerPacket: median(costs) } : {},
		samples,
		validity: validity(steady, pps, offeredPps)
	};
}
/** A run of a few slices has no ramp that could be told from its noise. */
const fewestForStretch = 10;
function nsPerPacket({ busySeconds, receivedPackets }) {
	return busySeconds && receivedPackets > 0 ? [busySeconds * 1e9 / receivedPackets] : [];
}
function validity(samples, pps, offeredPps) {
	if (samples.length === 0) return invalid("too-short", "no sample was taken");
	const holes = samples.filter((sample) => sample.forwardedPackets === 0);
	const isSilent = holes.length === samples.length;
	if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: "valid" };
	if (isSilent) return invalid("hole", `no packet arrived for ${milliseconds(holes)} ms`);
	if (holes.length > 0) return invalid("hole", `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`);
	return isLimit(busyRatio(samples), pps, offeredPps) ? { kind: "valid" } : invalid("generator-limited", generatorLimited(samples, pps, offeredPps));
}
const milliseconds = (samples) => Math.round(sum(samples.map(({ seconds }) => seconds)) * 1e3);
/** Whether the DUT was, which its own idle time tells best: a sender that waits for it offers no more than it takes. */
const isLimit = (busy, pps, offeredPps) => busy === void 0 ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;
function generatorLimited(samples, pps, offeredPps) {
	const busy = busyRatio(samples);
	const share = formatPercent(pps / offeredPps);
	const rates = `generator-limited: ${formatPps(pps)} came through of ${formatPps(offeredPps)} offered (${share})`;
	return busy === void 0 ? rates : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}
/** Share of the time in which the forwarding thread ran or was due to; unknown on a DUT that does not tell. */
function busyRatio(samples) {
	const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) => busySeconds === void 0 ? [] : busySeconds + deniedSeconds);
	if (busy.length < samples.length) return void 0;
	return sum(busy) / sum(samples.map((sample) => sample.seconds));
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
const invalid = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});

// src/testbed/linux-logs.ts
/** Packets that left the DUT, and that reached the receiver, since their interfaces came up. */
const countersSchema = object({
	forwarded: int(),
	received: int()
});
const beforeAndAfter = object({
	before: countersSchema,
	after: countersSchema
});
/** The logs by their names in the folder of a blast. */
const logNames = {
	dut: "dut.log",
	sender: "sender.log",
	counters: "counters.json"
};
/** More than this share of what the DUT forwarded must reach the receiver. */
const leastReceivedShare = .99;
/** `observation` is given where the DUT said more than its log holds: why it stopped. */
function readLinuxLogs(planned, startedAt, logs, observation = parseObservation(logs.dut)) {
	const sent = parseTrafgenLog(logs.sender);
	if (sent.kind === "failed") return sent;
	if (observation.kind === "failed") return observation;
	const loss = lossBehindTheDut(logs.counters);
	if (loss !== void 0) return {
		kind: "failed",
		reason: loss
	};
	const runs = planned.runs.map((run, index) => measuredRun(run, planned.number, observation.samplesPerRun[index] ?? [], sent.offeredPps));
	const { number, cell } = planned;
	const { seconds: trafficSeconds, offeredPps } = sent;
	return {
		kind: "measured",
		runs,
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds,
			offeredPps
		}
	};
}
function lossBehindTheDut(counters) {
	const read = countersOf(counters);
	if (read === void 0) return "the counters cannot be read";
	const forwarded = read.after.forwarded - read.before.forwarded;
	const received = read.after.received - read.before.received;
	return received < forwarded * leastReceivedShare ? `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded` : void 0;
}
function countersOf(text) {
	try {
		return beforeAndAfter.parse(JSON.parse(text));
	} catch {
		return;
	}
}

export { linuxDutScript as a, samplesAsTheyCome as c, pktGenRun as d, parsePktGenLog as f, senderScript as i, freebsdLogNames as l, isSteady as m, readLinuxLogs as n, observeCommand as o, defaultBounds as p, senderCommand as r, parseObservation as s, logNames as t, readFreebsdLogs as u };