// Recognizes secrets, serial numbers and host names by their form, or by adjacent words.

const secretName =
  '(?:pass(?:word|wd|phrase|code)?|secret|token|credentials?|api[_-]?key|authorization|psk|auth[_-]?key|shared[_-]?key)';

export const secretPatterns: readonly RegExp[] = [
  /\b(?:Basic|Bearer) +([\w+/=.~-]{8,})/g,
  // Matches quoted text, and text quoted within quotes.
  new RegExp(`${secretName}["']?[ \\t]*[:=][ \\t]*(["'])(?<hidden>(?:\\\\.|(?!\\1)[^\\\\\\n\\0]){3,200})\\1`, 'gi'),
  new RegExp(`${secretName}(?:\\\\+["'])?[ \\t]*[:=][ \\t]*(\\\\+["'])(?<hidden>[^\\n\\0]{3,200}?)\\1`, 'gi'),
  new RegExp(`${secretName}["']?[ \\t]*[:=][ \\t]*["']?(?!basic |bearer )([^\\s"'\\0]{3,200})`, 'gi'),
  // carp(4): in either order; pf.conf(5) has rules that begin with `pass`.
  /\b(?:vhid|advskew|advbase|carp)\b[^\n\0]{0,200}?\bpass[ \t]+(?:\\*["'])?(?<hidden>[^\s"'\\\0]{1,200})/g,
  /\bpass[ \t]+(?<hidden>[^\s"'\\\0]{1,200})[ \t]+(?:vhid|advskew|advbase)\b/g,
  // setkey(8), and programs that take a password as an argument.
  /[ \t]-[EA][ \t]+[a-z][\w-]{2,40}[ \t]+(?<hidden>"[^"\n\0]{1,400}"|0x[0-9a-f]{8,400})/gi,
  /\b(?:ipmitool|sshpass|mysql)\b[^\n\0]{0,200}?[ \t]-[pP][ \t]*(?<hidden>[^\s"'\0]{3,200})/g,
  /\bcurl\b[^\n\0]{0,200}?[ \t](?:-u|--user)[ \t]+["']?[^\s:"'\0]{1,64}:(?<hidden>[^\s"'\0]{1,200})/g,
  /\b(?:ro|rw|snmp)community[ \t]+"?(?<hidden>[^\s"'\0]{3,200})/g,
  /\b((?:gh[pousr]_|github_pat_|glpat-|api-|cli-|xox[a-z]-)[\w-]{16,})/g,
  /\b(AKIA[0-9A-Z]{16})\b/g,
  /\b(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g,
  /(\$(?:1|2[abxy]?|5|6|7|y)\$[\w./$+=,-]{12,})/g,
  /:\/\/[^\s/:@\0]{1,64}:([^\s/@\0]{1,200})@/g,
];

export const serialPatterns: readonly RegExp[] = [
  /(?:serial(?:[ _-]?(?:numbers?|no|num))?|asset[ _-]?tag|\bs\/n|\.(?:serial|sn|tag))["']?[ \t]*(?:[:=]|[ \t]\d+[ \t])[ \t]*["']?([\w./-][\w. /-]{1,60}[\w/-]|[\w-]+)/gi,
  /\bserial(?: number)? +(?=[a-z-]{0,20}\d)([0-9a-z][0-9a-z-]{5,60})/gi,
  // Matches labels of glabel(8), without the partition at their end.
  /\bDISK-[ ]{0,40}([\w.+-]{3,80}?)(?=(?:[ps]\d{1,2}[a-h]?)?(?![\w.+-]))/g,
  /\bby-id\/([\w.:+-]{6,200})/g,
  /\b(?:ata|nvme|scsi|usb)-[\w.+-]{1,80}_([0-9A-Z-]{6,40})\b/g,
  /\bufsid\/([0-9a-f]{8,16})\b/g,
  // Matches geom(8)'s `ident`; a kernel's ident has no digits and colon.
  /\bident:[ \t]*(?=[\w.-]{0,40}\d)([\w.-]{5,80})/g,
  /\b(?:lunid|lunname|wwn|wwpn|wwnn|nguid|eui64|nodename|portname)["']?[ \t]*[:=][ \t]*["']?(?:0x)?([\w. -]{4,80}[\w])/gi,
  /\bWWN Device Id:[ \t]*([0-9a-f][ 0-9a-f]{8,40}[0-9a-f])/gi,
  /\b(?:naa\.|eui\.|wwn-(?:0x)?|t10\.)([\w.-]{8,64})/gi,
  /\b0x(5[0-9a-f]{15})\b/gi,
  /(?<![0-9a-f:])((?:[0-9a-f]{2}:){7,31}[0-9a-f]{2})(?![0-9a-f:])/gi,
  /\b(?:pool_|vdev_|top_)?guid["']?[ \t]*[:=][ \t]*["']?(\d{6,20})\b/g,
  /\bhost ?id["']?(?:[ \t]*[:=]|[ \t]+is)?[ \t]*["']?((?:0x)?(?=[0-9a-f]{0,9}[1-9a-f])[0-9a-f]{4,10})\b/gi,
];

/** Requires a known top-level domain: `net.inet.ip.forwarding` is no domain name. */
export const domainName =
  /(?<![\w.-])(?:[a-z0-9](?:[\w-]{0,62})\.){1,8}(?:com|org|net|edu|gov|mil|int|info|biz|io|lan|local|localdomain|internal|intranet|corp|home|arpa|lab|test|cloud|de|uk|fr|nl|jp|ch|at|se|no|dk|fi|it|es|eu|us|ca|au|br|cz|pl|ru|cn|kr|tw|be|ie|nz|za|in|il|ua|pt|gr|hu|ro)(?![\w-]|\.\w)/gi;

const name = String.raw`([A-Za-z0-9](?:[\w-]{0,62}(?:\.[\w-]{1,63}){0,8}))`;

/** Finds a machine's own name in the output of rc(8), getty(8), syslogd(8), savecore(8), uname(1) and sendmail(8). */
export const hostPatterns: readonly RegExp[] = [
  String.raw`\bhostname["'\\]{0,4}[ \t]*[:=][ \t]*["'\\]{0,4}${name}`,
  String.raw`^[A-Za-z]+\/\w+ \(${name}\) \(\w+\)`,
  String.raw`^${name} login: ?\r?$`,
  String.raw`^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? ${name} [\w./()-]{1,64}(?:\[\d+\])?:`,
  String.raw`^(?:<\d{1,3}>1? ?)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16} ${name} `,
  String.raw`^(?:FreeBSD|Linux) ${name} \d{1,3}\.\d`,
  String.raw`\bhost ?name \(${name}\)`,
  String.raw`\bresolve hostname ${name}`,
  String.raw`^${name} dumped core\b`,
  String.raw`\bhost-name "${name}"`,
  String.raw`\bhost ${name} port \d`,
].map((source) => new RegExp(source, 'gm'));
