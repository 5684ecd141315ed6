import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import type { Config } from '../../platform/config.ts'
import { encodeS3 } from '../../platform/outbound/s3.ts'
import { hasObject, readObject, type S3Object, uploadStream } from '../../platform/outbound/s3-objects.ts'
import { setupProblem } from '../../platform/problem.ts'

/** A file or an object with a backup. It exists only once it was written completely. */
export type Storage = {
  exists(): boolean | Promise<boolean>
  read(): Readable
  write<T>(write: (openOutput: () => Writable) => Promise<T>): Promise<T>
}

/** The file with this path, or the object with a URL such as s3://BUCKET/KEY. */
export const storageOf = (path: string, config: Config) =>
  path.startsWith('s3://') ? objectStorage(objectOf(path, config.BACKUP_S3)) : fileStorage(path)

export const fileStorage = (path: string): Storage => ({
  exists: () => existsSync(path),
  read: () => createReadStream(path),
  async write(write) {
    const part = `${path}.part`
    await rm(part, { force: true })
    try {
      const written = await write(() => createWriteStream(part, { mode: 0o600, flags: 'wx', flush: true }))
      await rename(part, path)
      return written
    } finally {
      await rm(part, { force: true })
    }
  },
})

const objectStorage = (object: S3Object): Storage => ({
  exists: () => hasObject(object),
  read: () => Readable.from(readObject(object)),
  write: (write) => write(() => uploadStream(object)),
})

function objectOf(path: string, bucket: Config['BACKUP_S3']): S3Object {
  if (!bucket) throw setupProblem('BACKUP_S3 is not set. It has the endpoint and the credentials of the storage')
  const [, name = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(path) ?? []
  const segments = key.split('/')
  if (!/^[a-z0-9][a-z0-9.-]+$/.test(name) || segments.some((one) => ['', '.', '..'].includes(one)))
    throw setupProblem('The URL of an object must have a bucket and a key, such as s3://harbor-backups/assay.backup')
  const url = new URL(`${bucket.endpoint}/${[name, ...segments.map(encodeS3)].join('/')}`)
  return { setting: 'BACKUP_S3', account: bucket, url, partBytes: bucket.part_mb * 1024 * 1024 }
}
