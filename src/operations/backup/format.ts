import { z } from 'zod'
import { environments, regions } from '../../contract/common.ts'

/** The names of our tables, columns and sequences. Nothing else becomes part of a statement. */
const Identifier = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/)
const Version = z.string().regex(/^[\w.+-]{1,40}$/)

/** A version of the root secret, encrypted as in the database. */
const Root = z.strictObject({
  version: z.int().min(1),
  id: z.uuid(),
  wrapped: z.base64(),
  wrapped_by: z.string().max(200),
  active: z.boolean(),
  retired: z.boolean(),
})

/** The part of a backup that can be read without its key. */
export const BackupHeader = z.strictObject({
  assay_backup: z.literal(2),
  version: Version,
  created_at: z.iso.datetime(),
  environment: z.enum(environments),
  region: z.enum(regions),
  key_check: z.hex().length(64),
  /** The version of the root that the key of the backup derives from. */
  key_version: z.int().min(1),
  salt: z.base64().length(44),
  roots: z.array(Root).min(1).max(1000),
})
export type BackupHeader = z.output<typeof BackupHeader>

export const Contents = z.strictObject({
  migrations: z.array(z.string().regex(/^\d{4}_[a-z_]+\.sql$/)),
  tables: z.array(z.strictObject({ name: Identifier, columns: z.array(Identifier).min(1) })),
  /** Partitions of a day. The migrations create the others. */
  partitions: z.array(z.strictObject({ parent: Identifier, day: z.iso.date() })),
})
export type Contents = z.output<typeof Contents>

export const End = z.strictObject({
  rows: z.int().min(0),
  sequences: z.array(
    z.strictObject({
      name: Identifier,
      last: z
        .string()
        .regex(/^-?\d{1,19}$/)
        .nullable(),
    }),
  ),
})
export type End = z.output<typeof End>
