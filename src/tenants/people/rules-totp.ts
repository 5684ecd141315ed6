import { createHmac } from 'node:crypto'

export const TOTP_SECRET_BYTES = 20
const STEP_S = 30
const DIGITS = 6
/** Accepts neighboring steps because phone clocks drift and typing takes time. */
const STEP_TOLERANCE = 1

export const stepAt = (now: string) => Math.floor(Date.parse(now) / 1000 / STEP_S)

/** RFC 6238 with SHA-1, which every authenticator app supports. */
export function codeAt(secret: Buffer, step: number, digits = DIGITS) {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) as number) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/** Finds the step a code belongs to: near now, and after the last used step. */
export function findStep(secret: Buffer, code: string, now: string, last: number) {
  const steps = Array.from({ length: 2 * STEP_TOLERANCE + 1 }, (_, i) => stepAt(now) - STEP_TOLERANCE + i)
  return steps.find((step) => step > last && codeAt(secret, step) === code.replace(/\s/g, ''))
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 without padding, the form in which authenticators take secrets. */
export function toBase32(bytes: Buffer) {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

export function fromBase32(text: string) {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The URI an authenticator reads from a QR code. */
export const totpUri = (secret: string, email: string, org: string) =>
  `otpauth://totp/${encodeURIComponent(`${org}:${email}`)}?secret=${secret}&issuer=${encodeURIComponent(org)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_S}`
