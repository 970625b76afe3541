// Parses the head lines of perf script: one per sample, with the fields that -F selects, in perf's fixed order.

export type Head = {
  /** Absent if the fields include none, and in a file of other heads without names. */
  command?: string;
  event?: string;
  /** Text after the event: without call chains the single frame, for a tracepoint its fields. */
  rest: string;
  /** True for a head with a CPU, a time, or an event with a process or alone, so it cannot be mere words. */
  isSure: boolean;
  /**
   * True for a line that cannot be the head of a stack: it is too long for a command, or has the fields of a
   * tracepoint.
   */
  isUnclear?: boolean;
};

/** Reads `[COMMAND] [PID[/TID]] [[CPU]] [MISC] [DATE] [TIME:] [PERIOD] [EVENT: [REST]]`; undefined for any other line. */
export function headIn(line: string): Head | undefined {
  const text = line.trimEnd().replace(guest, '');
  if (instruction.test(text)) return undefined;
  const found = latencyHead(text) ?? placedHead(text);
  if (found !== undefined) return found;
  const [withPid, withoutPid] = [numbered, unnumbered].map((form) => headOf(form.exec(text)));
  if (withPid?.isSure === true) return withPid;
  if (withoutPid?.isSure === true) return withoutPid;
  const unsure = eventHead(text) ?? withPid ?? withoutPid;
  return unsure && tracepointFields.test(text) ? { ...unsure, isUnclear: !unsure.isSure } : unsure;
}

/**
 * Reads the head of a sample without a call chain, which ends in the sampled address, 16 columns wide, and its symbol.
 */
export function headBeforeAddress(line: string): Head | undefined {
  const [, text, address] = beforeAddress.exec(line.trimEnd()) ?? [];
  if (text === undefined || address === undefined) return undefined;
  const head = headIn(text);
  return head?.rest === '' ? { ...head, rest: address } : undefined;
}

const tracepointFields = /^\w+=\S* \w+=/;
/** perf's process fields for a guest come before all others. */
const guest = /^(?:VM:\s{0,8}\d{1,10} |VCPU:\d{1,10} ){1,2}/;
/** The length and bytes of the sampled instruction, after its stack. */
const instruction = /^ (?:ilen|insn): /;
const beforeAddress = /^(\s{0,64}\S.{0,199}?)( (?=[ \da-f]{16}(?: \S|$)) {0,15}[\da-f]{1,16}(?: \S.*)?)$/;

// Limits the blanks after the command, as its end is tried at 64 positions: perf pads to 16 columns at most.
const gap = String.raw`(?:\s{1,64}|$)`;
const number = String.raw`\d{1,20}`;
const pid = `(?<pid>-?${number}(?:/-?${number})?)${gap}`;
const cpu = String.raw`(?:(?<cpu>\[${number}\])${gap})?`;
/** Modes of -F misc: kernel, user, hypervisor, guest. */
const misc = `(?:[KUHGgMESp]{1,6}${gap})?`;
const date = String.raw`(?:(?<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.${number})${gap})?`;
const time = String.raw`(?:(?<time>${number}\.${number}):${gap})?`;
const event = String.raw`(?:${number}${gap})?(?:(?!${number}\.${number}:)(?<event>\S{1,512}):(?<rest>\s.*)?)?$`;
const placed = `${cpu}${misc}${date}${time}${event}`;
const command = String.raw`^\s*(?<command>\S.{0,63}?)${gap}`;

const numbered = new RegExp(`${command}${pid}${placed}`);
const unnumbered = new RegExp(`${command}${cpu}${date}${time}${event}`);
const nameless = new RegExp(String.raw`^\s{0,64}(?:${pid})?${placed}`);

/** `perf script -L` sets the command in 8 columns, the process in 5 or more, and the CPU in 3 without brackets. */
const latency = new RegExp(
  String.raw`^(?:(?<command>.{8}) )?(?=[ \d]{4}[\d/])(?<pid> {0,6}\d{1,10}(?:/\d{1,10} {0,6})?) ` +
    String.raw`(?<cpu> {2}\d| \d\d|\d{3,5}) (?=.*:)\s{0,64}${date}${time}${event}`,
);

function latencyHead(text: string): Head | undefined {
  const head = headOf(latency.exec(text));
  if (head?.command === undefined) return head;
  const command = head.command.trim();
  return command === '' ? undefined : { ...head, command };
}

/** Reads a head without a command, which begins with a number, a CPU or a time. */
function placedHead(text: string): Head | undefined {
  const match = nameless.exec(text);
  const { pid, cpu, date, time } = match?.groups ?? {};
  return (pid ?? cpu ?? date ?? time) === undefined ? undefined : headOf(match);
}

/** Requires an address after an event, or a tracepoint with its fields: words before a colon may be any text. */
function eventHead(text: string): Head | undefined {
  const head = headOf(nameless.exec(text));
  if (head?.event === undefined) return undefined;
  const { event, rest } = head;
  const isEvent = rest === '' || /^\s+[\da-f]{6,16}(?: |$)/.test(rest) || /^\w+:\w+$/.test(event);
  return isEvent ? { ...head, isSure: true } : undefined;
}

function headOf(match: RegExpExecArray | null): Head | undefined {
  if (match === null) return undefined;
  const { command, pid, cpu, date, time, event, rest = '' } = match.groups ?? {};
  const isPlaced = (cpu ?? date ?? time) !== undefined;
  return {
    rest,
    isSure: isPlaced || (pid !== undefined && event !== undefined),
    ...(command !== undefined && { command }),
    ...(event !== undefined && { event }),
  };
}
