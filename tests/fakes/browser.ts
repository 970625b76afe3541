// Starts Chromium without a network, for tests of pages and pictures.
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

/** A file that is open in a browser. */
export type Opened = {
  page: Page;
  /** Errors that scripts have thrown or logged so far. */
  complaints: string[];
  /** All requests so far, other than for itself; only files and data are served. */
  requests: string[];
};

/** Starts a browser for a suite's tests. Returns a function that opens a text under a file name. */
export function useBrowser(): (name: string, text: string, view?: View) => Promise<Opened> {
  const open = useBrowserAt();
  return async (name, text, view) => {
    const file = join(temporaryFolder(), name);
    writeFileSync(file, text);
    return open(pathToFileURL(file).href, view);
  };
}

/** Likewise, for existing addresses. */
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
