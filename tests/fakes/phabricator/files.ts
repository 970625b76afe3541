// file.*: uploads to show in comments.
import { type Call, ConduitError, isText, type Method, type Methods, refusal } from './conduit.ts';
import { identity, search } from './search.ts';
import { type FakeFile, letters, maySee, newRecord, type State } from './state.ts';

const fileSearch = search<FakeFile>({
  type: 'FILE',
  query: 'PhabricatorFileQuery',
  rows: (state) => state.files,
  isVisible: (file, { viewer }) => maySee(file, viewer),
  constraints: identity(),
  fields: (file, { state }) => ({
    name: file.name,
    uri: `${state.baseUri}/F${file.id}`,
    dataURI: dataUriOf(file, state),
    size: file.bytes.length,
    alt: { custom: null, default: altOf(file) },
    dateCreated: file.dateCreated,
    dateModified: file.dateModified,
    policy: { view: file.viewPolicy, edit: 'no-one' },
  }),
});

const upload: Method = {
  params: ['data_base64', 'name', 'viewPolicy', 'canCDN'],
  writes: 'file',
  run: ({ state, params, viewer }) => {
    const { data_base64: base64, name, viewPolicy } = params;
    if (!isText(base64) || base64 === '') throw refusal('Field "data_base64" must be non-empty.');
    if (!/^[\w+/\s]*=*\s*$/.test(base64)) throw refusal('Unable to decode base64 data!');
    const record = newRecord(state, 'FILE');
    state.files.push({
      ...record,
      name: isText(name) ? name : 'file',
      bytes: Buffer.from(base64, 'base64'),
      authorPHID: viewer.phid,
      // The server also accepts a policy that does not exist, which admits no user.
      viewPolicy: isText(viewPolicy) ? viewPolicy : 'users',
      secret: letters(`secret of ${record.phid}`, 20),
    });
    return record.phid;
  },
};

const info: Method = {
  params: ['phid', 'id'],
  run: (call) => {
    const { state, params } = call;
    const file = state.files.find(({ phid, id }) => phid === params.phid || id === Number(params.id));
    if (file === undefined || !maySee(file, call.viewer)) {
      throw new ConduitError('ERR-NOT-FOUND', 'No such file exists.');
    }
    return {
      id: String(file.id),
      phid: file.phid,
      objectName: `F${file.id}`,
      name: file.name,
      mimeType: mimeTypeOf(file),
      byteSize: String(file.bytes.length),
      authorPHID: file.authorPHID,
      dateCreated: String(file.dateCreated),
      dateModified: String(file.dateModified),
      uri: `${state.baseUri}/F${file.id}`,
    };
  },
};

const allocate: Method = {
  params: ['name', 'contentLength', 'contentHash', 'viewPolicy', 'deleteAfterEpoch'],
  run: (_: Call) => ({ upload: true, filePHID: null }),
};

export const fileMethods: Methods = {
  'file.search': fileSearch,
  'file.upload': upload,
  'file.info': info,
  'file.allocate': allocate,
};

export const dataUriOf = ({ secret, phid, name }: FakeFile, { baseUri }: State): string =>
  `${baseUri}/file/data/${secret}/${phid}/${name}`;

/** In pixels; undefined for anything but a PNG. */
export const pngSizeOf = ({ bytes }: FakeFile): { width: number; height: number } | undefined =>
  isPng(bytes) ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;

function altOf(file: FakeFile): string {
  const { name, bytes } = file;
  const size = bytes.length < 1024 ? `${bytes.length} B` : `${Math.round(bytes.length / 1024)} KB`;
  const pixels = pngSizeOf(file);
  if (pixels === undefined) return `${name} (${size})`;
  return `${name} (${pixels.width}×${pixels.height} px, ${size})`;
}

function mimeTypeOf({ name, bytes }: FakeFile): string {
  if (isPng(bytes)) return 'image/png';
  if (name.endsWith('.svg')) return 'image/svg+xml';
  return name.endsWith('.json') ? 'application/json' : 'text/plain';
}

function isPng(bytes: Buffer): boolean {
  return bytes.length >= 24 && bytes.toString('latin1', 1, 4) === 'PNG';
}
