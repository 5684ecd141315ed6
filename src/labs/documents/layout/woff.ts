import { inflateSync } from 'node:zlib'

/** Converts a WOFF 1 file to a plain font: inflated tables behind an ordinary directory. */
export function unpackWoff(woff: Buffer) {
  const tables = tablesOf(woff)
  const head = Buffer.alloc(12 + 16 * tables.length)
  woff.copy(head, 0, 4, 8)
  head.writeUInt16BE(tables.length, 4)
  let offset = head.length
  for (const [index, { tag, checksum, data }] of tables.entries()) {
    const at = 12 + 16 * index
    head.write(tag, at, 'latin1')
    head.writeUInt32BE(checksum, at + 4)
    head.writeUInt32BE(offset, at + 8)
    head.writeUInt32BE(data.length, at + 12)
    offset += paddedLength(data.length)
  }
  return Buffer.concat([head, ...tables.flatMap(({ data }) => [data, Buffer.alloc(paddedLength(data.length) - data.length)])])
}

const paddedLength = (length: number) => Math.ceil(length / 4) * 4

function tablesOf(woff: Buffer) {
  return Array.from({ length: woff.readUInt16BE(12) }, (_, index) => {
    const at = 44 + 20 * index
    const [offset, packed, length, checksum] = [4, 8, 12, 16].map((field) => woff.readUInt32BE(at + field)) as [
      number,
      number,
      number,
      number,
    ]
    const bytes = woff.subarray(offset, offset + packed)
    return { tag: woff.toString('latin1', at, at + 4), checksum, data: packed < length ? inflateSync(bytes) : bytes }
  })
}
