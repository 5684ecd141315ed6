{{/* The pod template of a process. Arguments: the root context, the component, the role, and the values of the component. */}}
{{- define "assay.podTemplate" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 3 -}}
{{- $isEmbedded := eq $component "embedded" -}}
metadata:
  labels:
    {{- include "assay.selectorLabels" (list $root $component) | nindent 4 }}
    app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
    metrics: "true"
  {{- with $root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "assay.fullname" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  securityContext:
    {{- include "assay.podSecurityContext" 1000 | nindent 4 }}
  {{- include "assay.placement" (list $root $component) | trim | nindent 2 }}
  containers:
    - name: assay
      image: {{ include "assay.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      env:
        - name: ROLE
          value: {{ index . 2 }}
        {{- /* A folder that only Assay can read. The root of the volume is open to the group. */}}
        - name: DATA_DIR
          value: /data/assay
        {{- include "assay.settings" (list $root $values.settings) | trim | nindent 8 }}
        {{- if not $isEmbedded }}
        {{- /* Pods do not share a file system, so they wake each other through the database. */}}
        {{- include "assay.secretEnv" (list $root "DIRECT_DATABASE_URL" (include "assay.directUrlKey" $root) false) | nindent 8 }}
        {{- end }}
        {{- range without $root.Values.secret.keys "DIRECT_DATABASE_URL" }}
        {{- include "assay.secretEnv" (list $root . . false) | nindent 8 }}
        {{- end }}
        {{- range $root.Values.secret.optionalKeys }}
        {{- include "assay.secretEnv" (list $root . . true) | nindent 8 }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
      startupProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ $isEmbedded | ternary 300 150 }}
      readinessProbe:
        httpGet: { path: /ready, port: http }
        periodSeconds: 5
        {{- /* Assay waits 3 seconds for the database. */}}
        timeoutSeconds: 5
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      {{- if $values.preStopSeconds }}
      lifecycle:
        preStop:
          sleep: { seconds: {{ $values.preStopSeconds }} }
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "assay.containerSecurityContext" . | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /data
        - name: tmp
          mountPath: /tmp
        {{- if $isEmbedded }}
        - name: shared-memory
          mountPath: /dev/shm
        {{- end }}
        {{- if $root.Values.database.caConfigMap }}
        {{- include "assay.caMount" $root | nindent 8 }}
        {{- end }}
        {{- with $root.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if not $isEmbedded }}
    {{- /* It contains credentials.json, so it stays in memory. */}}
    - name: data
      emptyDir: { medium: Memory, sizeLimit: 16Mi }
    {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: 1Gi }
    {{- if $isEmbedded }}
    - name: shared-memory
      emptyDir: { medium: Memory, sizeLimit: 256Mi }
    {{- end }}
    {{- if $root.Values.database.caConfigMap }}
    {{- include "assay.caVolume" $root | nindent 4 }}
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
