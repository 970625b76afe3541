// Chromium, as a person without a network has it: for tests of what we draw.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startChromium } from './chromium.ts';
import { temporaryFolder } from './folder.ts';

export type View = Pick<BrowserContextOptions, 'colorScheme' | 'javaScriptEnabled' | 'hasTouch'> & {
  widthPixels?: number;
};

/** A file as it is open in a browser. */
export type Opened = {
  page: Page;
  /** Errors that scripts threw or logged so far. */
  complaints: string[];
  /** All that it asked for beside itself, so far; what is neither a file nor data it does not get. */
  requests: string[];
};

/** Starts a browser for the tests of a suite; returns a function that opens a text under a file name. */
export function useBrowser(): (name: string, text: string, view?: View) => Promise<Opened> {
  const open = useBrowserAt();
  return async (name, text, view) => {
    const file = join(temporaryFolder(), name);
    writeFileSync(file, text);
    return open(pathToFileURL(file).href, view);
  };
}

/** The same for what lies at an address already. */
export function useBrowserAt(): (url: string, view?: View) => Promise<Opened> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  return async (url, { widthPixels: width = 1200, ...view } = {}) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, ...view });
    onTestFinished(() => context.close());
    await context.route(/^(?!file:|data:)/, (route) => route.abort());
    const opened: Opened = { page: await context.newPage(), complaints: [], requests: [] };
    watch(opened, url);
    await opened.page.goto(url);
    return opened;
  };
}

function watch({ page, complaints, requests }: Opened, url: string): void {
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (request.url() !== url) requests.push(request.url());
  });
}
