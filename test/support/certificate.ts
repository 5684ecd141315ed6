import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { newBytes } from './seeded.ts'

const encodeDer = (tag: number, ...parts: Buffer[]) => {
  const content = Buffer.concat(parts)
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const sequence = (...parts: Buffer[]) => encodeDer(0x30, ...parts)
const bits = (content: Buffer) => encodeDer(0x03, Buffer.from([0]), content)
const oid = (hex: string) => encodeDer(0x06, Buffer.from(hex, 'hex'))
const utcTime = (at: Date) => encodeDer(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const name = sequence(encodeDer(0x31, sequence(oid('550403'), encodeDer(0x0c, Buffer.from('Assay test receiver')))))
const DAY = 24 * 3600 * 1000

const alternative = (host: string) =>
  isIPv4(host) ? encodeDer(0x87, Buffer.from(host.split('.').map(Number))) : encodeDer(0x82, Buffer.from(host))

/** Creates a self-signed certificate for the hosts, because Node can only read certificates. */
export function newCertificate(hosts: string[], days = 1) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = [
    sequence(oid('551d11'), encodeDer(0x04, sequence(...hosts.map(alternative)))),
    sequence(oid('551d13'), encodeDer(0x04, sequence(encodeDer(0x01, Buffer.from([255]))))),
  ]
  const content = sequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))),
    encodeDer(0x02, Buffer.from([1]), newBytes(8)),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(Date.now() - 30 * DAY)), utcTime(new Date(Date.now() + days * DAY))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, sequence(...extensions)),
  )
  const certificate = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
