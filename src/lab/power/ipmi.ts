// Controls power over IPMI 2.0, with ipmitool(1).

import type { IpmiConfig } from '../../config/power.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import { type PowerController, PowerError, type PowerReading, type PowerReply } from './power-controller.ts';
import type { PowerDeps, ProgramOutcome } from './power-deps.ts';
import { readPassword } from './secret-files.ts';

export async function openIpmi(name: string, config: IpmiConfig, deps: PowerDeps): Promise<PowerController> {
  const label = `The BMC of ${name} (IPMI at ${config.host}:${config.port})`;
  const password = await readPassword(label, config.passwordPath, deps);
  const request = (order: PowerOrder) =>
    requestBmc({ label, config, password, order: ['chassis', 'power', order], deps });
  return {
    label,
    check: "the machine, and the BMC's event log",
    state: async () => readingOf(await request('status'), label),
    turn: async (to) => replyOf(await request(to)),
    cycle: async () => replyOf(await request('cycle')),
  };
}

type PowerOrder = 'status' | 'on' | 'off' | 'cycle';
type Exited = Extract<ProgramOutcome, { kind: 'exited' }>;
type BmcRequest = {
  label: string;
  config: IpmiConfig;
  password: string;
  order: readonly string[];
  deps: Pick<PowerDeps, 'run' | 'sleep'>;
};

const tries = 3;
const secondsBetweenTries = 2;

/** Retries only after silence: a BMC locks out a user after wrong passwords. Throws a PowerError. */
export async function requestBmc({ label, config, password, order, deps }: BmcRequest): Promise<Exited> {
  let silence = '';
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 0) await deps.sleep(secondsBetweenTries);
    const ran = await deps.run('ipmitool', ['-v', ...sessionWords(config), ...order], {
      env: sessionEnvironment(password),
      timeoutSeconds: 60,
    });
    if (ran.kind === 'failed') {
      throw new PowerError(
        `${label} cannot be queried: ipmitool ${ran.why}; check that ipmitool is installed and works here.`,
      );
    }
    // ipmitool prints messages on success that sound like failures.
    if (ran.code === 0) return ran;
    const refusal = refusalOf(ran.stderr, config.user);
    if (refusal !== undefined) throw new PowerError(`${label} ${refusal}.`);
    if (!silent.test(ran.stderr)) return ran;
    silence = lastMessage(ran.stderr);
  }
  throw new PowerError(
    `${label} cannot be queried: the last of ${tries} tries ended with "${silence}"; check its power, network and address, and that IPMI over LAN is enabled.`,
  );
}

/**
 * `-E` reads the password from the environment, `-N` and `-R` allow 10 s of silence, and `-L` requests the rights of an
 * operator, who may switch power (IPMI 2.0, Appendix G). The caller's `-v` prints the reason of a refusal.
 */
export function sessionWords({ host, port, user, cipherSuite }: IpmiConfig): string[] {
  const session = `-E -I lanplus -L OPERATOR -C ${cipherSuite} -p ${port} -N 2 -R 2`;
  return [...session.split(' '), '-H', host, '-U', user];
}

export const sessionEnvironment = (password: string): Record<string, string> => ({
  IPMI_PASSWORD: password,
  LC_ALL: 'C',
});

/** Includes a BMC that stops responding after the login. */
const silent = /Unable to establish IPMI|Could not open socket|no response|Unable to get Chassis Power Status/i;

/**
 * Messages of ipmitool 1.8.19, most of them seen with ipmi_sim. Some name an RMCP+ status code (IPMI 2.0, table 13-15).
 */
function refusalOf(stderr: string, user: string): string | undefined {
  // Ignores a command's own code, which proves nothing about the session; a deactivated console has one, too.
  const lines = stderr.split('\n').filter((line) => !/completion code received/i.test(line));
  const refusal = refusals.find(({ is }) => lines.some((line) => is.test(line)));
  if (refusal === undefined) return undefined;
  const line = lines.find((one) => refusal.is.test(one)) ?? stderr;
  return `${refusal.what(user)} (${shortened(line.replace(/^> /, ''))}); ${refusal.fix}`;
}

const refusals = [
  {
    is: /Set Session Privilege Level|privilege level|insufficient privilege|invalid role|unauthorized role/i,
    what: (user: string) => `refuses the operator privilege level for the user ${user}`,
    fix: 'raise it on the channel of its network, for example with "ipmitool channel setaccess"',
  },
  {
    is: /HMAC is invalid|unauthorized name|invalid (?:user )?name|password is longer|invalid integrity check value|password verification|unauthorized GUID/i,
    what: (user: string) => `refuses the login of the user ${user}`,
    fix: 'check `user`, its password file (20 bytes at most), and its operator privilege over LAN',
  },
  {
    is: /cipher suite|authentication (?:algorithm|payload|type)|integrity (?:algorithm|payload)|confidentiality/i,
    what: () => 'refuses the cipher suite',
    fix: 'set `cipherSuite` to one that it supports, such as 17 or 3',
  },
  {
    // The BMC replied: any other status code while the session was opened.
    is: /message indicates an error|error in open session response|Activate Session|insufficient resources/i,
    what: () => 'opens no session',
    fix: 'look up the reason, close its other sessions, or restart it',
  },
];

/** Returns the last specific line: neither the fixed conclusion, nor a note on late replies. */
function lastMessage(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter(
      (line) => !/^Error: Unable to|^Loading IANA|^IPMI Request Match NOT|^Close Session command failed/.test(line),
    );
  return shortened(lastLine(lines.join('\n'))?.replace(/^> /, '') ?? 'no output from ipmitool');
}

function readingOf({ code, stdout, stderr }: Exited, label: string): PowerReading {
  const [, state] = /^Chassis Power is (on|off)$/m.exec(stdout) ?? [];
  if (code === 0 && (state === 'on' || state === 'off')) return state;
  throw new PowerError(
    `${label} does not report whether the machine is on: ${shortened(lastLine(stdout) ?? lastMessage(stderr))}; check with "ipmitool chassis power status".`,
  );
}

/** ipmitool exits with 0 if the BMC's completion code is 0. */
function replyOf({ code, stderr }: Exited): PowerReply {
  return code === 0 ? { kind: 'accepted' } : { kind: 'refused', why: lastMessage(stderr) };
}
