import { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { setupProblem } from '../problem.ts'
import { MINUTE } from '../time.ts'
import { encodeS3, type S3Account, signedHeaders } from './s3.ts'
import { requestTrusted } from './trusted.ts'

/** An object of S3-compatible storage. It is written and read in parts of the same size. */
export type S3Object = { setting: string; account: S3Account; url: URL; partBytes: number }

type ObjectRequest = { method: string; query?: Record<string, string>; headers?: Record<string, string>; body?: string | Buffer }

const MAX_PARTS = 10_000
const ATTEMPTS = 4
const RETRY_MS = 100
/** Enough for a part on a slow line. */
const TIMEOUT_MS = 10 * MINUTE

/** Sends a request, and repeats it if the storage cannot be reached, is overloaded or fails. */
async function send(object: S3Object, request: ObjectRequest) {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS
    const response = await sendOnce(object, request).catch((error: Error) => {
      if (isLast) throw setupProblem(error.message)
      return undefined
    })
    if (response && (isLast || (response.status < 500 && response.status !== 429))) return response
    await delay(RETRY_MS * 5 ** attempt)
  }
}

async function sendOnce({ setting, account, url: base }: S3Object, { method, query = {}, headers = {}, body = '' }: ObjectRequest) {
  const url = new URL(base)
  url.search = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeS3(value)}`)
    .join('&')
  const signed = signedHeaders(account, { method, url, headers, body }, new Date().toISOString())
  const content = method === 'GET' || method === 'HEAD' ? {} : { body }
  const response = await requestTrusted(setting, url.href, { method, headers: signed, timeoutMs: TIMEOUT_MS, ...content })
  const bytes = await response.arrayBuffer().catch(() => {
    throw new Error(`${setting}: the connection was lost`)
  })
  return { status: response.status, headers: response.headers, body: Buffer.from(bytes) }
}

type Received = Awaited<ReturnType<typeof send>>

/** Storage can report a failure with status 200 and an error in the body. */
const isRefused = ({ status, body }: Received) => status >= 300 || (status === 200 && body.includes('<Error>'))

function refusalOf({ setting }: S3Object, { status, body }: Received) {
  const [, code] = /<Code>(\w+)<\/Code>/.exec(body.toString('utf8', 0, 4096)) ?? []
  return setupProblem(`${setting}: the storage responded with ${status}${code ? ` (${code})` : ''}`)
}

async function sendChecked(object: S3Object, request: ObjectRequest) {
  const response = await send(object, request)
  if (isRefused(response)) throw refusalOf(object, response)
  return response
}

/** Credentials that can only write get 403 for every object. Then completing the upload finds out. */
export const hasObject = async (object: S3Object) => (await send(object, { method: 'HEAD' })).status === 200

/** A stream that uploads an object in parts. The object appears when the stream ends, and never if it fails. */
export function uploadStream(object: S3Object) {
  const etags: string[] = []
  let uploadId: string | undefined
  let pieces: Buffer[] = []
  let size = 0

  const begin = async () => {
    const { body } = await sendChecked(object, { method: 'POST', query: { uploads: '' } })
    const [, id] = /<UploadId>([^<]+)<\/UploadId>/.exec(body.toString()) ?? []
    if (!id) throw setupProblem(`${object.setting}: the storage does not support multipart uploads`)
    return id
  }
  const sendPart = async (part: Buffer) => {
    if (etags.length === MAX_PARTS) throw setupProblem(`${object.setting}: more than ${MAX_PARTS} parts. Set a larger part_mb`)
    uploadId ??= await begin()
    const { headers } = await sendChecked(object, { method: 'PUT', query: { partNumber: `${etags.length + 1}`, uploadId }, body: part })
    etags.push(headers.get('etag') ?? '')
  }
  const add = async (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (size < object.partBytes) return
    let rest = Buffer.concat(pieces)
    for (; rest.length >= object.partBytes; rest = rest.subarray(object.partBytes)) await sendPart(rest.subarray(0, object.partBytes))
    pieces = [rest]
    size = rest.length
  }
  const complete = async () => {
    if (size || !etags.length) await sendPart(Buffer.concat(pieces))
    const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const query = { uploadId: uploadId as string }
    const response = await send(object, { method: 'POST', query, headers: { 'if-none-match': '*' }, body })
    if (response.status === 412) throw setupProblem('The object already exists; choose another name')
    if (isRefused(response)) throw refusalOf(object, response)
  }
  const abort = async () => {
    if (uploadId) await send(object, { method: 'DELETE', query: { uploadId } })
  }

  return new Writable({
    write: (piece, _, done) => void add(piece).then(() => done(), done),
    final: (done) => void complete().then(() => done(), done),
    destroy: (error, done) =>
      void (error ? abort() : Promise.resolve()).then(
        () => done(error),
        () => done(error),
      ),
  })
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Reads an object in parts, so that a slow reader does not hold a connection. It must not change in between. */
export async function* readObject(object: S3Object) {
  let condition: Record<string, string> = {}
  for (let [from, total] = [0, 1]; from < total; ) {
    const range = `bytes=${from}-${from + object.partBytes - 1}`
    const response = await send(object, { method: 'GET', headers: { range, ...condition } })
    if (response.status === 404) throw setupProblem('The object does not exist')
    const [, size] = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
    if (response.status !== 206 || !size || !response.body.length) throw refusalOf(object, response)
    const etag = response.headers.get('etag')
    if (etag) condition = { 'if-match': etag }
    total = Number(size)
    from += response.body.length
    yield response.body
  }
}
