// A minimal tree that accepts the arguments of Linux's makefiles.

/**
 * The Makefile supports a kernel's variables, and names its release like Linux: with the commit if configured, and a
 * `+` without LOCALVERSION. `net/Makefile` is for a patch that brings its own.
 */
export const linuxTree: Readonly<Record<string, string>> = {
  Makefile: `
objects := $(abspath $(O))
configuration := $(file < $(objects)/.config)
configured = $(lastword $(filter CONFIG_$(1)=y CONFIG_$(1), $(configuration)))
commit := $(if $(filter %=y,$(call configured,LOCALVERSION_AUTO)),-g$(shell git rev-parse --short HEAD))
release := 6.1.0$(commit)$(if $(filter undefined,$(origin LOCALVERSION)),+,$(LOCALVERSION))
modules = $(INSTALL_MOD_PATH)/lib/modules/$(release)
built = $(objects)/net/core.o $(objects)/net/route.o

olddefconfig:
	@echo 'CONFIG_COMPLETED=y' >>$(objects)/.config
	@mkdir -p $(objects)/include/config $(objects)/arch/x86/boot $(objects)/net
	@echo '$(release)' >$(objects)/include/config/kernel.release

kernelrelease:
	@echo '$(release)'

$(objects)/net/%.o: net/%.c
	@echo '  CC      net/$*.o'
	@gcc -c -o $@ $(CURDIR)/$<

bzImage: $(built)
	@ld -r -o $(objects)/vmlinux $(built)
	@nm $(objects)/vmlinux >$(objects)/System.map
	@cat $(objects)/vmlinux >$(objects)/arch/x86/boot/bzImage
	@echo '$(release) ($(KBUILD_BUILD_USER)@$(KBUILD_BUILD_HOST)) #$(KBUILD_BUILD_VERSION) $(KBUILD_BUILD_TIMESTAMP)' >>$(objects)/arch/x86/boot/bzImage

modules: $(objects)/net/route.o
	@cp $< $(objects)/route.ko

modules_install:
	@mkdir -p $(modules)/kernel/net
	@cp $(objects)/route.ko $(modules)/kernel/net
	@strip --strip-debug $(modules)/kernel/net/route.ko
	@ln -s $(objects) $(modules)/build
	@ln -s $(CURDIR) $(modules)/source
	@$(DEPMOD) -b $(INSTALL_MOD_PATH) $(release)

-include net/Makefile
`,
  'net/core.c': 'int net_base;\n',
  'net/route.c': 'int route_base;\n',
  README: 'What nothing is made of.\n',
};
