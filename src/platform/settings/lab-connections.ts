import { z } from 'zod'
import { network } from './values.ts'

const Port = z.int().min(0).max(65_535)
const Host = z.string().regex(/^[^\s/]{1,253}$/, 'must be a host name or an address')
const File = z.string().min(1)
const Address = z.union([z.ipv4(), z.ipv6(), network], 'must be an address or a network, such as 10.20.0.0/16')

/** How Assay exchanges HL7 messages with a lab. Files are read when the process starts. */
export const LabConnection = z.strictObject({
  /** A profile file, or the name of a built-in profile. */
  profile: z.string().min(1),
  /** Where the lab receives orders. With `tls`, `cert` and `key` identify Assay to the lab. */
  send: z.strictObject({
    host: Host,
    port: Port.min(1),
    tls: z.strictObject({ ca: File, cert: File, key: File }).partial().optional(),
    timeout_seconds: z.number().min(0.05).max(600).default(30),
  }),
  /** Where Assay receives results. With `tls.ca`, the lab needs a certificate, whose common name is `tls.subject`. */
  receive: z
    .strictObject({
      host: Host.default('127.0.0.1'),
      port: Port,
      from: z.array(Address).min(1).default(['127.0.0.0/8', '::1/128']),
      tls: z
        .strictObject({ cert: File, key: File, ca: File.optional(), subject: z.string().min(1).optional() })
        .refine(({ ca, subject }) => !subject || ca, 'needs ca to check the certificate with this subject')
        .optional(),
    })
    .optional(),
})
export type LabConnection = z.output<typeof LabConnection>

/** By the slug of the lab. */
export const LabConnections = z.record(z.string().regex(/^[a-z0-9-]+$/, 'must be the slug of a lab'), LabConnection)
