import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verify } from '../src/delivery/webhooks/sign.ts'

export type ReceiverReport = {
  count: number
  bytes: number
  wrong: number
  firstAt: number
  lastAt: number
  receipts: [id: string, path: string, at: number, key: string, n: number][]
}

const now = () => performance.timeOrigin + performance.now()

/** Runs in its own process. It checks the signature and the order of each message. /report returns the counts since the last /report. */
async function main(secret: Buffer) {
  const emptyReport = (): ReceiverReport => ({ count: 0, bytes: 0, wrong: 0, firstAt: 0, lastAt: 0, receipts: [] })
  let report = emptyReport()
  /** The position of the last message of each key of a webhook. */
  const positions = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    if (path === '/report' || path === '/count') {
      const { receipts, ...rest } = report
      response.end(JSON.stringify(path === '/report' ? { ...rest, receipts } : rest))
      if (path === '/report') report = emptyReport()
      return
    }
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const at = now()
      if (path === '/dead') return
      const { 'webhook-id': id, 'webhook-key': key, 'webhook-sequence': n } = request.headers as Record<string, string>
      const queue = `${path} ${key}`
      const isNext = Number(n) > (positions.get(queue) ?? 0)
      positions.set(queue, Number(n))
      if (!isNext || verify(secret, request.headers, Buffer.concat(parts), new Date().toISOString()) !== 'verified') report.wrong++
      report.count++
      report.bytes += request.rawHeaders.join('').length + Buffer.concat(parts).length
      report.firstAt ||= at
      report.lastAt = at
      if (!path.startsWith('/drain')) report.receipts.push([id as string, path, at, key as string, Number(n)])
      response.end()
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}

if (process.argv[2] && import.meta.filename === process.argv[1]) await main(Buffer.from(process.argv[2], 'base64'))
