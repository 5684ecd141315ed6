import { useState } from 'preact/hooks'
import { selectedTeam } from '../api.ts'
import { humanize } from '../format.ts'
import { useObservable } from '../observable.ts'
import { Link, usePath } from '../router.tsx'
import { type NavItem, navGroups } from '../routes.ts'
import { type Session, selectTeam, session, signOut } from '../session.ts'
import { setTheme, type Theme, theme, themes } from '../theme.ts'
import { AsyncButton, Button, Status } from '../ui/basics.tsx'
import { FilterSelect } from '../ui/forms.tsx'
import { Icon } from '../ui/icons.tsx'
import { Brand } from './brand.tsx'

export const visibleNavGroups = (currentSession: Session | null | undefined) =>
  navGroups
    .map((group) => ({
      ...group,
      items: group.items.filter((item) => isVisible(item, currentSession)),
    }))
    .filter(({ items }) => items.length)

const isVisible = ({ org, sandbox, needs }: NavItem, currentSession: Session | null | undefined) =>
  !(org && currentSession?.kind === 'team') &&
  !(sandbox && currentSession?.environment !== 'sandbox') &&
  (!needs || currentSession?.capabilities.includes(needs))

export function Sidebar() {
  const currentSession = useObservable(session)
  const path = usePath()
  const isCurrent = (to: string) => (to === '/' || to === '/organization' ? path === to : path === to || path.startsWith(`${to}/`))
  return (
    <>
      <Link class="brand" to="/">
        <Brand />
        Assay
      </Link>
      <TeamSelect />
      {visibleNavGroups(currentSession).map(({ title, items }) => (
        <nav key={title ?? 'main'} aria-label={title ?? 'Main'}>
          {title && <h2>{title}</h2>}
          <ul>
            {items.map(({ to, name, icon }) => (
              <li key={to}>
                <Link to={to} {...(isCurrent(to) ? { 'aria-current': 'page' } : {})}>
                  <Icon name={icon} />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      ))}
      <SidebarFooter />
    </>
  )
}

const Environment = ({ session: { environment, region } }: { session: Session }) => (
  <div>
    <Status tone={environment === 'sandbox' ? 'info' : 'good'}>{`${humanize(environment)} ${region.toUpperCase()}`}</Status>
  </div>
)

function TeamSelect() {
  const currentSession = useObservable(session)
  const team = useObservable(selectedTeam)
  const [, rerender] = useState(0)
  // A declined team change must reset the select element.
  const changeTeam = (id: string) => {
    selectTeam(id)
    rerender((n) => n + 1)
  }
  if (!currentSession) return null
  return (
    <div class="team-choice stack tight">
      <span class="small muted">{currentSession.org.name}</span>
      {currentSession.teams.length > 1 ? (
        <FilterSelect
          label="Team"
          value={team ?? ''}
          onSelect={changeTeam}
          options={currentSession.teams.map(({ team_id, name }) => [team_id, name])}
        />
      ) : (
        <strong class="ellipsis">{currentSession.teams[0]?.name}</strong>
      )}
      <Environment session={currentSession} />
    </div>
  )
}

function SidebarFooter() {
  const currentSession = useObservable(session)
  const current = useObservable(theme)
  const next = themes[(themes.indexOf(current) + 1) % themes.length] as Theme
  return (
    <div class="foot">
      <div class="row between">
        <a class="row small muted" href="/docs">
          <Icon name="docs" /> Documentation
        </a>
        <Button
          kind="plain"
          class="icon"
          aria-label={`Theme: ${current}. Change to ${next}`}
          title={`Theme: ${current}`}
          onClick={() => setTheme(next)}
        >
          <Icon name={current === 'auto' ? 'auto' : current === 'dark' ? 'moon' : 'sun'} />
        </Button>
      </div>
      <div class="row between">
        <Link class="small ellipsis" to="/account" title="My account">
          {accountName(currentSession)}
        </Link>
        <AsyncButton kind="plain" small action={signOut}>
          Sign out
        </AsyncButton>
      </div>
    </div>
  )
}

const accountName = (currentSession: Session | null | undefined) =>
  currentSession?.person?.email ??
  (currentSession?.kind === 'management' ? 'Management key' : currentSession?.kind === 'team' ? 'Team API key' : '')
