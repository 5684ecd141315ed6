import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Link } from '../router.tsx'

type HeadProps = { title: string; children?: ComponentChildren; actions?: ComponentChildren; up?: [to: string, name: string] }

let isFirst = true

/** What a page is about, and what can be done here. */
export function Head({ title, children, actions, up }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Assay`
    // A screen reader hears where it is; the first page is announced by the browser itself.
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [title])
  return (
    <div class="page-head">
      <div>
        {up && (
          <Link class="small muted" to={up[0]}>
            ‹ {up[1]}
          </Link>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children && <p>{children}</p>}
      </div>
      {actions && <div class="row wrap">{actions}</div>}
    </div>
  )
}
