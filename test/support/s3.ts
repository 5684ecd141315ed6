import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { atEnd } from './at-end.ts'

const account = { region: 'eu-west-1', access_key_id: 'AKHARBOR', secret_access_key: 'a secret of the harbor' }

const hashOf = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Computes the signature again, from what arrived, as the documentation of Signature Version 4 describes it. */
function isSigned({ method, url = '', headers, body }: Received) {
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKHARBOR\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(headers.authorization ?? '') ?? []
  const [day = '', region = '', service = '', end = ''] = scope.split('/')
  const time = headers['x-amz-date'] as string
  const [path, query = ''] = url.split('?')
  const parts = query.split('&').map((part) => (part.includes('=') || !part ? part : `${part}=`))
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  const request = [method, path, parts.sort().join('&'), lines.join(''), names, hashOf(body)].join('\n')
  const key = [region, service, end].reduce(mac, mac(`AWS4${account.secret_access_key}`, day))
  const expected = mac(key, ['AWS4-HMAC-SHA256', time, scope, hashOf(request)].join('\n')).toString('hex')
  const isFresh = Math.abs(Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')) - Date.now()) < 15 * 60_000
  return signature === expected && isFresh && headers['x-amz-content-sha256'] === hashOf(body) && names.split(';').includes('host')
}

type Received = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: Buffer }
type Reply = { status: number; headers?: Record<string, string>; body?: string | Buffer }

const refusal = (status: number, code: string): Reply => ({ status, body: `<Error><Code>${code}</Code></Error>` })

/** S3-compatible storage on this machine, with multipart uploads, ranges and conditions. It rejects a wrong signature. */
export async function s3Storage() {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const requests: string[] = []
  /** Replies to the next requests, before the storage does anything. */
  const failures: Reply[] = []
  let uploadCount = 0
  const etagOf = (bytes: Buffer) => `"${hashOf(bytes).slice(0, 32)}"`

  function read(bytes: Buffer | undefined, { method, headers }: Received): Reply {
    if (!bytes) return refusal(404, 'NoSuchKey')
    if (method === 'HEAD') return { status: 200 }
    if (headers['if-match'] && headers['if-match'] !== etagOf(bytes)) return refusal(412, 'PreconditionFailed')
    const [from = 0, to = 0] = (headers.range ?? '').replace('bytes=', '').split('-').map(Number)
    const body = bytes.subarray(from, to + 1)
    const range = `bytes ${from}-${from + body.length - 1}/${bytes.length}`
    return { status: 206, headers: { etag: etagOf(bytes), 'content-range': range }, body }
  }

  function complete(path: string, id: string, parts: Map<number, Buffer>, { headers, body }: Received): Reply {
    if (objects.has(path) && headers['if-none-match'] === '*') return refusal(412, 'PreconditionFailed')
    const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)]
    if (listed.some(([, number, etag]) => etag !== etagOf(parts.get(Number(number)) as Buffer))) return refusal(400, 'InvalidPart')
    objects.set(path, Buffer.concat(listed.map(([, number]) => parts.get(Number(number)) as Buffer)))
    uploads.delete(id)
    return { status: 200, body: '<CompleteMultipartUploadResult/>' }
  }

  function respond(request: Received): Reply {
    if (!isSigned(request)) return refusal(403, 'SignatureDoesNotMatch')
    const failure = failures.shift()
    if (failure) return failure
    const [path = '', text] = request.url?.split('?') ?? []
    const query = new URLSearchParams(text)
    const id = query.get('uploadId')
    const parts = uploads.get(id ?? '')
    if (request.method === 'GET' || request.method === 'HEAD') return read(objects.get(path), request)
    if (query.has('uploads')) {
      const created = `upload/${++uploadCount}+=`
      uploads.set(created, new Map())
      return { status: 200, body: `<InitiateMultipartUploadResult><UploadId>${created}</UploadId></InitiateMultipartUploadResult>` }
    }
    if (!id || !parts) return refusal(404, 'NoSuchUpload')
    if (request.method === 'DELETE') {
      uploads.delete(id)
      return { status: 204 }
    }
    if (request.method === 'POST') return complete(path, id, parts, request)
    parts.set(Number(query.get('partNumber')), request.body)
    return { status: 200, headers: { etag: etagOf(request.body) } }
  }

  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/[^?]*/, '')}`)
    const { method, url, headers } = request
    const reply = respond({ method, url, headers, body: await buffer(request) })
    response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { account, endpoint, objects, uploads, requests, failures }
}
