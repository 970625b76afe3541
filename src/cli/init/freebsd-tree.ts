// Templates for FreeBSD's src, whose kernels are built on Linux, and for a router's rules, on guests of an official
// image.

import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { modeline, overlayOf } from './config-file.ts';
import type { FoundFiles } from './init-overlay.ts';

/** An official image on FreeBSD's servers, and its checksum there. */
export type PublishedImage = { url: string; sha512: string };

/** Throws a UsageError for an address or a checksum that a workflow cannot contain. */
export function parseImage(url: string, sha512: string): PublishedImage {
  if (!/^https:\/\/[\w.-]+\/[\w./-]{1,300}\.(?:raw|qcow2)(?:\.xz)?$/.test(url)) {
    throw new UsageError(
      `--image: expected the https address of an official image, as of FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz, found "${excerpt(url)}".`,
    );
  }
  if (!/^[0-9a-f]{128}$/i.test(sha512)) {
    throw new UsageError(
      `--sha512: expected the image's SHA-512 from the CHECKSUM.SHA512 beside it, found "${excerpt(sha512)}".`,
    );
  }
  return { url, sha512: sha512.toLowerCase() };
}

/** Runners of GitHub discard the folder after each job, but a cache keeps it. */
const imageFolder = '/var/tmp/ppsgate-image';

const imagePath = ({ url }: PublishedImage): string => `${imageFolder}/${url.slice(url.lastIndexOf('/') + 1)}`;

export const freebsdTreeConfig = (action: string | undefined, image: PublishedImage): string => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/virtual.md of ppsgate says what guests measure, and what they cannot see.

testbeds:
  # Kernels of base and patched boot side by side in this image; instructions per packet are counted.
  guests:
    kind: virtual
    image:
      path: ${imagePath(image)}
      sha512: ${image.sha512}
    builder:
      kind: cross
      user: kernels
      freeSpace: 4 GB
      # Debian's and Ubuntu's clang reach the stack's guard by a relocation that FreeBSD loads no module with.
      options: [-DWITHOUT_SSP]
      # Compiles only what the patch has touched, from the objects of base.
      clean: false

scenarios: [forwarding, pf-stateful, ipfw-stateful]
families: [inet4, inet6]
`;

/** Measures rules of pf or ipfw, which guests load with the image's own kernel. */
export const freebsdRulesConfig = (action: string | undefined, image: PublishedImage, found: FoundFiles): string => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/virtual.md of ppsgate says what guests measure, and what they cannot see.

${overlayOf(found)}
testbeds:
  # Guests of this image with the rules of base and patched run side by side; instructions per packet are counted.
  guests:
    kind: virtual
    image:
      path: ${imagePath(image)}
      sha512: ${image.sha512}

# The rules of the overlay are in force in this scenario.
scenarios: [forwarding]
families: [inet4, inet6]
`;

const cacheAction = 'actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0';

/** Steps before a measurement of a tree: the image, and the tools that build kernels of FreeBSD. */
export const freebsdTreeSteps = (image: PublishedImage): string => `${freebsdImageSteps(image)}\n${builderSteps}`;

/** Downloads the image, or restores it from the cache. */
export const freebsdImageSteps = (image: PublishedImage): string => `\
      - uses: ${cacheAction}
        with:
          path: ${imageFolder}
          key: ppsgate-image-${image.sha512}
      - name: Fetch the image of FreeBSD
        env:
          URL: ${image.url}
          IMAGE: ${imagePath(image)}
          SHA512: ${image.sha512}
        run: |
          mkdir -p "$(dirname "$IMAGE")"
          test -e "$IMAGE" || curl --fail --silent --show-error --location --retry 5 --output "$IMAGE" "$URL"
          echo "$SHA512  $IMAGE" | sha512sum --check --quiet`;

const builderSteps = `\
      # The patch's makefiles run as \`kernels\`, which has no network and may write to nothing but the folder of builds; the
      # clone is root's, and shares its objects with the checkout.
      - name: Ready this machine to build kernels
        run: |
          sudo apt-get -qq update
          sudo apt-get -qq install --yes --no-install-recommends bison clang flex libarchive-dev libbz2-dev lld
          sudo useradd --system --shell /usr/sbin/nologin kernels
          sudo git clone --quiet --no-checkout "$GITHUB_WORKSPACE" /usr/src`;
