// Reads the header of a Linux image for x86: Documentation/arch/x86/boot.rst of Linux, `kernel_version`.

/** The version lies in the first sectors of the image. */
export const maxImageHeaderBytes = 0x8000;

/** Release, builder and version, `6.1.0-50-cloud-amd64 (…) #1 SMP …`; undefined for anything but a bzImage. */
export function linuxVersionIn(header: Buffer): string | undefined {
  const isImage = header.length > 0x210 && header.toString('latin1', 0x202, 0x206) === 'HdrS';
  if (!isImage) return undefined;
  const at = header.readUInt16LE(0x20e) + 0x200;
  const version = header.toString('latin1', at, header.indexOf(0, at));
  // The release becomes the name of a folder.
  return /^[\w][\w.+~-]{0,100} [ -~]+$/.test(version) ? version : undefined;
}
