import { Head } from '../../ui/head.tsx'

export const AuditLog = () => <Head title="AuditLog" />
