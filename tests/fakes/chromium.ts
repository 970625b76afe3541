// Starts the machine's own Chromium, for tests and for the pictures in the documentation.
import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(),
    // Root, as whom containers run tests, gets no sandbox from Chromium.
    args: ['--no-sandbox'],
  });
