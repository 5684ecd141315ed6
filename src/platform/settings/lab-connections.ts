import { z } from 'zod'
import { network } from './values.ts'

const Port = z.int().min(0).max(65_535)
const Host = z.string().regex(/^[^\s/]{1,253}$/, 'must be a host name or an address')
const File = z.string().min(1)
const Address = z.union([z.ipv4(), z.ipv6(), network], 'must be an address or a network, such as 10.20.0.0/16')

/** Where the lab receives orders over MLLP. With `tls`, `cert` and `key` identify Assay to the lab. */
const MllpSending = z.strictObject({
  host: Host,
  port: Port.min(1),
  tls: z.strictObject({ ca: File, cert: File, key: File }).partial().optional(),
  timeout_seconds: z.number().min(0.05).max(600).default(30),
  /** The messages of an order always use the same one. */
  connections: z.int().min(1).max(16).default(1),
})

/** Where Assay receives results over MLLP. With `tls.ca`, the lab needs a certificate, whose common name is `tls.subject`. */
const MllpReceiving = z.strictObject({
  host: Host.default('127.0.0.1'),
  port: Port,
  from: z.array(Address).min(1).default(['127.0.0.0/8', '::1/128']),
  tls: z
    .strictObject({ cert: File, key: File, ca: File.optional(), subject: z.string().min(1).optional() })
    .refine(({ ca, subject }) => !subject || ca, 'needs ca to check the certificate with this subject')
    .optional(),
})

const Folder = z.string().regex(/^[^\0\r\n]{1,1000}$/, 'must be a folder on the server of the lab')
const HostKey = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be a fingerprint, as ssh-keygen -l prints it: SHA256:…')

/** A server of the lab where Assay leaves files with orders and picks up files with results. */
const Sftp = z
  .strictObject({
    host: Host,
    port: Port.min(1).default(22),
    user: z.string().min(1),
    password: z.string().min(1).optional(),
    /** An OpenSSH or PEM file. */
    private_key: File.optional(),
    passphrase: z.string().min(1).optional(),
    /** A server can have a key per algorithm, and needs two while it changes one. */
    host_keys: z.array(HostKey, 'must list the fingerprints of the host keys of the lab; without them, anyone could be the lab').min(1),
    orders: Folder,
    results: Folder,
    done: Folder.optional(),
    poll_seconds: z.number().min(1).max(86_400).default(60),
    /** How long a file must not change before it is read. */
    settle_seconds: z.number().min(0).max(3600).default(10),
    timeout_seconds: z.number().min(0.05).max(600).default(30),
    max_file_mb: z.number().min(0.001).max(50).default(20),
    files_per_poll: z.int().min(1).max(1000).default(100),
  })
  .refine(({ password, private_key }) => (password === undefined) !== (private_key === undefined), 'needs either password or private_key')

/** How Assay exchanges HL7 messages with a lab. Files are read when the process starts. */
export const LabConnection = z
  .strictObject({
    /** A profile file, or the name of a built-in profile. */
    profile: z.string().min(1),
    send: MllpSending.optional(),
    receive: MllpReceiving.optional(),
    sftp: Sftp.optional(),
  })
  .refine(({ send, receive, sftp }) => (sftp ? !send && !receive : send), 'needs either send, for MLLP, or sftp')
export type LabConnection = z.output<typeof LabConnection>

/** By the slug of the lab. */
export const LabConnections = z.record(z.string().regex(/^[a-z0-9-]+$/, 'must be the slug of a lab'), LabConnection)
