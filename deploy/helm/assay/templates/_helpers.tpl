{{- define "assay.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "assay.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}

{{/* The pods of one component. Arguments: the root context and the component. */}}
{{- define "assay.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "assay.labels" -}}
{{- $root := index . 0 -}}
{{ include "assay.selectorLabels" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{/* Name, namespace and labels. Arguments: the root context, the component, and the suffix of the name. */}}
{{- define "assay.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "assay.fullname" $root }}{{ index . 2 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "assay.labels" . | nindent 2 }}
{{- end -}}

{{/* Arguments: the root context and settings that override the common ones. */}}
{{- define "assay.settings" -}}
{{- $root := index . 0 -}}
{{- range $name, $value := merge (dict) (index . 1) $root.Values.settings }}
- name: {{ $name }}
  {{- /* Helm reads numbers as floats, which print large ones with an exponent. */}}
  value: {{ kindIs "float64" $value | ternary (int64 $value | toString) (toString $value) | quote }}
{{- end }}
{{- end -}}

{{/* Arguments: the root context, the setting, the key in the Secret, and whether it is optional. */}}
{{- define "assay.secretEnv" -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef:
      name: {{ (index . 0).Values.secret.name }}
      key: {{ index . 2 }}
      {{- if index . 3 }}
      optional: true
      {{- end }}
{{- end -}}

{{/* The key with the URL of PostgreSQL itself, without a pooler in between. */}}
{{- define "assay.directUrlKey" -}}
{{- has "DIRECT_DATABASE_URL" .Values.secret.keys | ternary "DIRECT_DATABASE_URL" "DATABASE_URL" -}}
{{- end -}}

{{- define "assay.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Arguments: the user ID, which is also the group of the volumes. */}}
{{- define "assay.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
{{- /* A recursive change would open the folder of the embedded database to the group, and PostgreSQL rejects that. */}}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Where a pod runs. Arguments: the root context and the component. */}}
{{- define "assay.placement" -}}
{{- $root := index . 0 -}}
{{- $selector := include "assay.selectorLabels" . -}}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
  {{- end }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The certificate authority of the database. */}}
{{- define "assay.caMount" -}}
- name: ca
  mountPath: /etc/assay-ca
  readOnly: true
{{- end -}}

{{- define "assay.caVolume" -}}
- name: ca
  configMap:
    name: {{ .Values.database.caConfigMap }}
{{- end -}}
