import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Link } from '../router.tsx'

type PageHeaderProps = { title: string; children?: ComponentChildren; actions?: ComponentChildren; up?: [to: string, name: string] }

let isFirstPage = true

export function PageHeader({ title, children, actions, up }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Assay`
    // Focus makes a screen reader announce the new page. The browser announces the first one.
    if (!isFirstPage) heading.current?.focus({ preventScroll: true })
    isFirstPage = false
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
