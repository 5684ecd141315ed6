import type { ComponentChildren } from 'preact'
import { Link } from '../router.tsx'

type HeadProps = { title: ComponentChildren; children?: ComponentChildren; actions?: ComponentChildren; up?: [to: string, name: string] }

/** What a page is about, and what can be done here. */
export const Head = ({ title, children, actions, up }: HeadProps) => (
  <div class="page-head">
    <div>
      {up && (
        <Link class="small muted" to={up[0]}>
          ‹ {up[1]}
        </Link>
      )}
      <h1 tabIndex={-1}>{title}</h1>
      {children && <p>{children}</p>}
    </div>
    {actions && <div class="row wrap">{actions}</div>}
  </div>
)
