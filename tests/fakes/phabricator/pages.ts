// HTML that is returned where JSON was expected.

/** HTTP 200, for a wrong path, a slash after the method, and `output=human`. */
export const loginPage = html(
  'Authentication Failure',
  'This server is not configured with any enabled authentication providers which can be used to log in.',
);

/** HTTP 500. */
export const brokenPage = html('Unhandled Exception', 'The server has failed.');

/** HTTP 500, of a server whose database is down. */
export const noDatabasePage =
  'This install has a fatal setup error, access the web interface to view details and resolve it.';

/** HTTP 502, of the web server if PHP is down. */
export const noPhpPage =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n';

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
