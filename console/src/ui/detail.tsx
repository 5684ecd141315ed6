import type { ComponentChildren } from 'preact'
import type { Query } from '../query.ts'
import { Card } from './basics.tsx'
import { Head } from './head.tsx'
import { Failed, Loaded } from './table.tsx'

type DetailProps<T> = { of: Query<T>; what: string; up: [to: string, name: string]; children: (data: T) => ComponentChildren }

/** A page about one thing; where that cannot be shown, the page still says what it is about and leads back. */
export function Detail<T>({ of, what, up, children }: DetailProps<T>) {
  if (of.data !== undefined || !of.error)
    return (
      <Loaded of={of} lines={10}>
        {children}
      </Loaded>
    )
  return (
    <>
      <Head up={up} title={what} />
      <Card bare label={what}>
        <Failed error={of.error} again={of.reload} />
      </Card>
    </>
  )
}
