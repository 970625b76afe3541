// Controls power over IPMI 2.0, with ipmitool(1).

import type { IpmiConfig } from '../../config/power.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import { type PowerController, PowerError, type PowerReply, readPassword } from './power-controller.ts';
import type { PowerDeps, ProgramOutcome } from './power-deps.ts';

export async function openIpmi(name: string, config: IpmiConfig, deps: PowerDeps): Promise<PowerController> {
  const label = `The BMC of ${name} (IPMI at ${config.host}:${config.port})`;
  const password = await readPassword(label, config.passwordPath, deps);
  const request = (order: 'status' | 'on' | 'off' | 'cycle') =>
    requestBmc({ label, config, password, order: ['chassis', 'power', order], deps });
  // ipmitool exits with 0 if the BMC's completion code is 0.
  const turn = async (order: 'on' | 'off' | 'cycle'): Promise<PowerReply> => {
    const { code, stderr } = await request(order);
    return code === 0 ? { kind: 'accepted' } : { kind: 'refused', why: lastMessage(stderr) };
  };
  return {
    label,
    check: "the machine, and the BMC's event log",
    async state() {
      const { code, stdout, stderr } = await request('status');
      const [, state] = /^Chassis Power is (on|off)$/m.exec(stdout) ?? [];
      if (code === 0 && (state === 'on' || state === 'off')) return state;
      const said = shortened(lastLine(stdout) ?? lastMessage(stderr));
      throw new PowerError(`${label} does not report whether the machine is on: ${said}.`);
    },
    turn,
    cycle: () => turn('cycle'),
  };
}

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
      throw new PowerError(`${label} cannot be queried: ipmitool ${ran.why}.`);
    }
    // ipmitool prints messages on success that sound like failures.
    if (ran.code === 0) return ran;
    // Ignores a command's own code, which proves nothing about the session; a deactivated console has one, too.
    const lines = ran.stderr.split('\n').filter((line) => !/completion code received/i.test(line));
    const refusal = lines.find((line) => refusals.test(line));
    if (refusal !== undefined) {
      throw new PowerError(`${label} refuses the user ${config.user}: ${shortened(refusal.replace(/^> /, ''))}.`);
    }
    if (!silent.test(ran.stderr)) return ran;
    silence = lastMessage(ran.stderr);
  }
  throw new PowerError(`${label} cannot be queried: the last of ${tries} tries ended with "${silence}".`);
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
 * Messages of ipmitool 1.8.19, most of them seen with ipmi_sim: a missing privilege, a wrong user or password, a cipher
 * suite that the BMC lacks, or another RMCP+ status code (IPMI 2.0, table 13-15).
 */
const refusals = new RegExp(
  [
    'privilege|(?:invalid|unauthorized) (?:role|name|user name|GUID)|HMAC is invalid|password is longer',
    'invalid integrity check value|password verification|integrity|confidentiality|cipher suite',
    'authentication (?:algorithm|payload|type)|message indicates an error|error in open session response',
    'Activate Session|insufficient resources',
  ].join('|'),
  'i',
);

/** Returns the last specific line: neither the fixed conclusion, nor a note on late replies. */
function lastMessage(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter(
      (line) => !/^Error: Unable to|^Loading IANA|^IPMI Request Match NOT|^Close Session command failed/.test(line),
    );
  return shortened(lastLine(lines.join('\n'))?.replace(/^> /, '') ?? 'no output from ipmitool');
}
