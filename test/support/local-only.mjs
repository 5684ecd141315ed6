// Every process of a test loads this first. It may contact only this machine: other addresses are refused, names are not looked up,
// and both are written to the file `log`. `allow` names hosts that the person who runs the tests has chosen.
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const { searchParams } = new URL(import.meta.url)
const log = searchParams.get('log')
const allowed = new Set(searchParams.getAll('allow'))
const local = new net.BlockList()
for (const [address, bits, family] of [
  ['127.0.0.0', 8, 'ipv4'],
  ['0.0.0.0', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['::1', 128, 'ipv6'],
])
  local.addSubnet(address, bits, family)

/** Nobody has such a name, so it needs no question. */
const reserved = /(^|\.)(example|example\.(com|net|org)|invalid|test)$/i
const isLocalName = (name) => /(^|\.)localhost$/i.test(name) || allowed.has(name)
const isLocal = (address) => allowed.has(address) || local.check(address, net.isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The error of a contact that was refused. It fails the test. */
function refuse(what) {
  const error = Object.assign(new Error(`A test contacts only this machine, not ${what}.`), { code: 'EACCES' })
  if (log) appendFileSync(log, `${error.stack}\n`)
  return error
}

const unknown = (name) =>
  reserved.test(name) ? Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', hostname: name }) : refuse(name)

const needsNoQuestion = (name) => !name || net.isIP(name) > 0 || isLocalName(name)

/** A lookup of the code itself can return any address, which is not contacted. */
const checkedLookup = (lookup) => (hostname, options, callback) =>
  lookup(hostname, options, (error, found, family) => {
    const addresses = [found].flat().map((one) => one?.address ?? one)
    const other = error ? undefined : addresses.find((address) => net.isIP(address) && !isLocal(address))
    if (other) return callback(refuse(other))
    callback(error, found, family)
  })

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function (...args) {
  const list = Array.isArray(args[0]) ? args[0] : args
  const [first, second] = list
  const options = typeof first === 'object' ? first : { path: Number.isNaN(Number(first)) ? first : undefined, host: second }
  const host = !options.path && typeof options.host === 'string' ? options.host : 'localhost'
  if (net.isIP(host) && !isLocal(host)) return this.destroy(refuse(`${host}:${options.port ?? first}`))
  if (options.lookup) list[0] = { ...options, lookup: checkedLookup(options.lookup) }
  return connect.apply(this, args)
}

const { lookup } = dns
dns.lookup = (name, ...rest) => {
  if (needsNoQuestion(name)) return lookup(name, ...rest)
  const error = unknown(name)
  process.nextTick(() => rest.at(-1)(error))
}
const { lookup: lookupLater } = dns.promises
dns.promises.lookup = async (name, ...rest) => {
  if (needsNoQuestion(name)) return lookupLater(name, ...rest)
  throw unknown(name)
}

const questions = (of) => Object.getOwnPropertyNames(of).filter((name) => /^(resolve|reverse)/.test(name))
for (const of of [dns, dns.Resolver.prototype])
  for (const question of questions(of))
    of[question] = (name, ...rest) => {
      const error = unknown(name)
      process.nextTick(() => rest.at(-1)(error))
    }
for (const of of [dns.promises, dns.promises.Resolver.prototype])
  for (const question of questions(of))
    of[question] = async (name) => {
      throw unknown(name)
    }

syncBuiltinESMExports()
