// The HTML that comes where JSON was expected.

/** HTTP 200: of a wrong path, a slash after the method, and `output=human`. */
export const loginPage = html(
  'Authentication Failure',
  'This server is not configured with any enabled authentication providers which can be used to log in.',
);

/** HTTP 500. */
export const brokenPage = html('Unhandled Exception', 'The server has failed.');

/** HTTP 500. */
export function wrongHostPage(path: string, host: string): string {
  const [name] = host.split(':');
  return html(
    'Site Not Found',
    `This request asked for &quot;${path}&quot; on host &quot;${name}&quot;, but no site is configured which can serve this request.`,
  );
}

function html(title: string, text: string): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8" /><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>`;
}
