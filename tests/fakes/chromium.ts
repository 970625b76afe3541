// Starts this machine's Chromium, for tests and for pictures in the documentation.
import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(),
    // Chromium gives no sandbox to root, who runs tests in containers.
    args: ['--no-sandbox'],
  });
