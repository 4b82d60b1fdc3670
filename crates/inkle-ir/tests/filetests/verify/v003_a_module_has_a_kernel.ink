;; test verify

; nothing

;; expect:
; V003: the module has no kernel
