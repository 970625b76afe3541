// `ppsgate init`: sets up a repository so that its patches are judged on GitHub.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import { askOnTerminal } from './prompt.ts';

export function define(command: Command): void {
  command
    .option(
      '--kind <name>',
      'linux: rules of a router; freebsd: a source tree of FreeBSD, or rules of pf or ipfw (default: by the rules found)',
    )
    .option('--image <url>', 'with --kind freebsd: the official image that guests boot')
    .option('--sha512 <sum>', 'SHA-512 of that image, from its CHECKSUM.SHA512')
    .option('--runner <labels>', 'ubuntu-latest, with the lab inside it, or self-hosted,LABEL')
    .option('--action <pin>', 'OWNER/ppsgate@COMMIT (default: the running ppsgate, if cloned)')
    .option('--branch <name>', "default branch of the repository (default: git's)")
    .option('--repository <name>', 'OWNER/NAME on GitHub (default: that of origin)')
    .option('--force', 'overwrite workflows that differ; ppsgate.yml never is')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = 'https://api.github.com' } = process.env;
      const directory = process.cwd();
      const { ownAction } = await import('../init/setting.ts');
      const own = await ownAction(import.meta.dirname);
      await runToExit(async (signal) => {
        const { runInit } = await import('./run-init.ts');
        return runInit(options, { directory, own, ask: askOnTerminal(signal), token, apiUrl });
      }, command.optsWithGlobals());
    });
}

const details = `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes
  ppsgate init --kind freebsd --image https://…-BASIC-CI-ufs.raw.xz --sha512 SUM

At a terminal it asks for missing options, and offers to write a small
dut/nftables.conf if the repository has no rules yet; --yes writes one. It finds
nftables.conf, sysctl.conf, pf.conf and ipfw.rules at the top and in etc/, and
configures measurements of their changes. If GITHUB_TOKEN has a token, it
creates the label.

Run it again at any time: it keeps and reports files that differ from what it
would write.

Exits 0 even if it kept files, 2 on wrong usage, and 4 on any other failure.`;
