// Fits variants to a Linux DUT: omits settings that the DUT lacks, and adds the interfaces that rules name.
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import type { LoadableOverlay } from './linux-overlay.ts';

/**
 * Removes base's settings that the DUT lacks from all variants: a network namespace has no net.core.netdev_budget.
 * Refuses a missing setting that only a patch adds, and every missing one of a single variant.
 */
export async function withoutMissing(
  host: Host,
  script: string,
  variants: readonly LoadableOverlay[],
): Promise<{ read: LoadableOverlay[]; warnings: string[] }> {
  const [base, ...others] = variants;
  if (base === undefined || others.length === 0) return { read: [...variants], warnings: [] };
  const stdin = [...base.sysctl.settings.keys(), ''].join('\n');
  const printed = await host.output(shell`bash ${script} missing`, { stdin });
  const missing = new Set(printed.split('\n').filter((path) => base.sysctl.settings.has(path)));
  const read = variants.map(({ sysctl, ...variant }) => ({
    ...variant,
    sysctl: {
      ...sysctl,
      settings: new Map([...sysctl.settings].filter(([path]) => !missing.has(path))),
    },
  }));
  const warnings = [...missing].map(
    (path) =>
      `sysctl.conf line ${base.sysctl.lines.get(path)}: the DUT has no setting ${path}, so it is ignored in every variant.`,
  );
  return { read, warnings };
}

/** Creates interfaces that rules name and no packet uses; `restore` deletes them. Returns the reason of a failure. */
export async function createInterfaces(
  host: Host,
  script: string,
  variants: readonly LoadableOverlay[],
): Promise<{ variant: string; message: string } | undefined> {
  const unused = [...new Set(variants.flatMap(({ unused }) => unused))];
  const [first] = variants;
  if (unused.length === 0 || first === undefined) return undefined;
  const outcome = await host.run(shell`bash ${script} interfaces ${unused}`);
  if (outcome.kind === 'exited' && outcome.code === 0) return undefined;
  const why = lastLine(outcome.stderr) ?? 'ip(8) said nothing';
  const message = `The DUT cannot create the unused interfaces ${unused.join(', ')} (${why}): remove them from \`overlay.interfaces\`, or load the module dummy.`;
  return { variant: first.variant, message };
}
